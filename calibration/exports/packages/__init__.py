"""The packages, one file each, in one table."""

from calibration.exports.packages import alt_test, hugging_face, label_studio
from calibration.exports.packages.base import Contents, Package

PACKAGES: dict[str, Package] = {
    package.key: package for package in (label_studio.PACKAGE, hugging_face.PACKAGE, alt_test.PACKAGE)
}
__all__ = ["PACKAGES", "Contents", "Package"]
