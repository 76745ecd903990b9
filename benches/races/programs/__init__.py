"""Programs that cases run in a process of their own."""
