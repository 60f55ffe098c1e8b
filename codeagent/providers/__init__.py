"""Who the model is: the services and the scripts that answer."""
