"""The arms of a study, which are ways of judging the same topics, compared."""
