"""The calibration error by relplot, a library for calibration. See check.py."""

import importlib.util
import sys
import types

import numpy as np

# the package itself loads its plots, which need many more packages
package = types.ModuleType("relplot")
package.__path__ = importlib.util.find_spec("relplot").submodule_search_locations
sys.modules["relplot"] = package

from relplot.metrics import binnedECE  # noqa: E402

# relplot's bins are of equal width: bins this fine part all different means
BINS = 100_000


def ece(bins):
    """The error of bins, each with its mean probability, its rows and its share that came true.

    relplot is given the mean of its bin as each row's probability, which leaves a bin's gap as it is.
    None where two means are too near for its bins.
    """
    cells = {int(bin["mean_probability"] / (1.0 / BINS)) for bin in bins}
    if not bins or len(cells) < len(bins):
        return None
    probability = np.repeat([bin["mean_probability"] for bin in bins], [bin["count"] for bin in bins])
    came_true = [np.arange(bin["count"]) < round(bin["share_right"] * bin["count"]) for bin in bins]
    return float(binnedECE(probability, np.concatenate(came_true).astype(float), BINS))
