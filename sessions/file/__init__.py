"""The session file: its bytes, its writing and its opening.

    format            the bytes: header, chunks, zone maps, index; each read and written
    run_info          what a header must say of its run
    writer            a run into a file; chunk_coder: a chunk's map; write_pipeline: the threads that code and compress
    stored            a chunk of a file, decoded when it is asked for
    zone_maps         what chunks hold in short, as searches ask it; zone_map_writer: as it is made
    warm              compiles the recorder: a program beside the first recording
"""
