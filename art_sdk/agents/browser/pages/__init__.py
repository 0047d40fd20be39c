"""A page as the agent sees it: cleaned, parsed, outlined, and compared with the page before."""
