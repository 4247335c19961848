"""The register files of the papers, one file each; rfview.engine.plugin finds, builds and checks them.

`on_subcore/` has what they are on the sub-core.
`template` is the file that `rfview designs --new` copies. A design imports Design and Parameter from rfview.engine.plugin;
its hooks are those of rfview.engine.hooks.
"""
