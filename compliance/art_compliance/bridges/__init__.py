"""Adapters in any language: a bridge is a program that answers JSON lines on its standard input and output."""
