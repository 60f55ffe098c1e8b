"""The screens: the main one, the welcome, help, and the lists to pick from."""
