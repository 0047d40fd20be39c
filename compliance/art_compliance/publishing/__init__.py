"""What a run leaves for others to read: the report page, the badge, the summary and the certificate."""
