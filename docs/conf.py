"""Settings of the documentation site: `make docs` writes it to docs/_build/html.

The source directory is the root of the repository: the relative links of the pages are the same on the site and in the tree.
"""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

project = "foreknow"
author = "The foreknow founders"
project_copyright = "The foreknow founders, Apache-2.0"
version = release = installed_version("foreknow")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "site_extensions.api_pages",
    "site_extensions.code_links",
    "site_extensions.command_options",
    "site_extensions.mathml",
]

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/*.ipynb",
    "notebooks/README.md",
    "benchmarks/*.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "README.md",
    "RELEASING.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/_build", "**/.*", "**/__pycache__", "docs/site_extensions"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}

# Notebooks are shown with their stored outputs.
nb_execution_mode = "off"
nb_merge_streams = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 4

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_param = False
# Attributes are listed as parameters are: one entry may have several names, as "prior, revised".
napoleon_custom_sections = [("Attributes", "params_style")]

# `Name` in a docstring is a link; a name that does not exist is a warning, and `make docs` ends with it.
default_role = "py:obj"
highlight_language = "none"
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = f"foreknow {version}"
html_static_path = ["site_extensions/static"]
html_css_files = ["foreknow.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "navbar_align": "left",
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {page: [] for page in ("docs/index", "docs/glossary", "docs/references", "docs/sequential-release")}
html_additional_pages = {"index": "redirect.html"}
templates_path = ["site_extensions/templates"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
