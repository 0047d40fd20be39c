"""Agents that own their blueprints."""
