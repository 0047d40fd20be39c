"""What `art new` writes: a project with an adapter that passes preflight, and everything that certifies it."""
