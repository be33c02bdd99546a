"""Programs that train model versions. Nothing that serves imports them."""

from importlib.util import find_spec

if not (find_spec("scipy") and find_spec("sklearn")):
    raise SystemExit("Training needs scipy and scikit-learn: pip install -e '.[retrain]'")
