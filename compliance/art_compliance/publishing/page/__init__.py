"""`index.html`: the reports of a run as one page that needs nothing else."""
