"""The edge that speaks to sites, the only place that calls addresses chosen by strangers."""
