"""What people are told of agreement while a campaign goes on."""
