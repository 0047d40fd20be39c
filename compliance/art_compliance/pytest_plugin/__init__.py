"""The suite inside pytest: what the hooks of `art_compliance.plugin` do."""
