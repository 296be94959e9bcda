"""Terminal code shared by the commands: output of tables and files, input of positions, human players."""
