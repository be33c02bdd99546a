"""Model versions, retrainings and versions in the shadow."""
