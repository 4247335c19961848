"""Sweeps: a file that names kernels and machines, and a folder of Parquet with a row for each run of one on the other.

    plan        a sweep file read and checked, and the jobs that it means
    columns     the columns of a row, with types and meanings
    rows        a job done, as a row
    dataset     the folder: its part files, who is writing it, which jobs it has
    plot        charts of what the folder holds
    doing       jobs to workers, rows to the folder, and how long it will take
"""
