"""What is said about an evaluation: first as plain data, then as text, tables and files."""
