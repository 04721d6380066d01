"""Maddalena, Roitero, Demartini & Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR."""
