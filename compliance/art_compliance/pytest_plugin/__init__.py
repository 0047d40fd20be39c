"""The suite inside pytest: items, run and summary. The hooks are in `art_compliance.plugin`."""
