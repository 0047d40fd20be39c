"""Agents that own their blueprints, and the parts that any agent is made of: reasoning, tools, stores, observations."""
