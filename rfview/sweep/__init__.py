"""Sweeps: a file that names kernels and machines, and a folder of Parquet files with a row for each run.

    plan        reads and checks a sweep file, and plans its jobs
    columns     the columns of the dataset, with types and meanings
    rows        runs a job and makes its row
    dataset     the folder: its part files, its writer, the jobs it contains
    plot        charts of a dataset
    doing       sends jobs to workers and rows to the folder, with a progress bar
"""
