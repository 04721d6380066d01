"""Maddalena, Mizzaro, Scholer & Turpin (2017), On Crowdsourcing Relevance Magnitudes. ACM TOIS 35(3)."""
