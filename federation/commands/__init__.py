"""What an operator types, one file per word after `causeway`. `answers` is how all of them speak."""
