"""What is seen: the app, its screens and widgets."""
