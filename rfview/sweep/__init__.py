"""Sweeps: a file that names kernels and machines, and a folder of Parquet files with a row for each run.

    plan        reads and checks a sweep file, and plans its jobs
    columns     the columns of the dataset, with types and meanings
    rows        runs a job and makes its row
    dataset     the folder: its part files, its writer, the jobs it contains
    grouping    rows of a dataset as the bars of a figure, never averaged over what nobody named
    drawing     a figure for a paper as SVG or PDF
    tables      the same as a table: Markdown, LaTeX, CSV
    plot        the same in the terminal; the run behind a bar
    doing       sends jobs to workers and rows to the folder, with a progress bar
"""
