"""Groups comments of one campaign: values in, values out."""
