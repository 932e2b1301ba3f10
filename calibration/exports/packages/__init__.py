"""The packages, one file each, in one table."""

from calibration.exports.packages.alt_test import PACKAGE as ALT_TEST
from calibration.exports.packages.base import Contents as Contents
from calibration.exports.packages.base import Package as Package
from calibration.exports.packages.hugging_face import PACKAGE as HUGGING_FACE
from calibration.exports.packages.label_studio import PACKAGE as LABEL_STUDIO

PACKAGES: dict[str, Package] = {package.key: package for package in (LABEL_STUDIO, HUGGING_FACE, ALT_TEST)}
