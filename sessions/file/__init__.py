"""The session file (.rfs): its bytes, its writing and its opening.

    framing           frames with their CRCs, and a chunk's head; header, index: the contents of these frames
    run_info          typed records: what a recording says of its run, checked when the file is opened
    writer            writes a run to a file; running: the run; chunk_coder: a chunk's map; write_pipeline: the threads that
                      code and compress
    stored            a chunk of a file, decoded on demand
    keyframe          the whole machine at one cycle, in pages under a seal; keyframe_coder: makes them
    zone_maps         summaries of chunks, for searches; zone_map_writer: makes them; bounds: the ranges that they give
    warm              compiles the recorder, in a child process of the first recording

Its bytes:

    file     := magic frame(HEAD) (frame(BASE) | frame(CHNK) | frame(KEYF) | frame(ZONE) | frame(PART))* frame(INDX) trailer
    magic    := 89 52 46 53 0D 0A 1A 0A                                     ("\\x89RFS\\r\\n\\x1a\\n")
    frame    := tag[4] length:u8 crc:u4 payload[length]      crc = CRC32 of tag, length and payload
    trailer  := offset of INDX:u8 crc:u4 of those 8 bytes, 52 46 53 45 4E 44 0D 0A                   ("RFSEND\\r\\n")

All numbers are little endian. Every byte belongs to a magic or under a CRC. A file without a good trailer and INDX (a run
that was killed, a damaged index) is read frame by frame up to the last complete one, from the last PART on if the file
is large; frames with unknown tags are skipped. Every map is msgpack, read by field name, and unknown names are ignored, so
fields can be added without a new format number; `format` increases when a field changes its meaning, and readers refuse
unknown ones.

Blobs are compressed with zstd. codec/README.md describes streams and number lists, and lists the streams of each blob.

HEAD payload, a map
    format, layout   1, 5; until a release, changes of format 1 only increase the second number
    body         blob of a map: sm_dtype, rf_dtype (dtypes as below), info (Simulator.info: kernel, launches, design,
                 scheduler, parameters, seed, engine_version, source_hash, stalls, events, panels, program, ptx,
                 buffers, launch_toml ...), first (cycle), chunk_cycles; inputs, if the file was made without chunks from a
                 bundled kernel: {kernel, size, words, sha256} of the arena, which is then placed again and compared
    state, memory, rows   blobs of u4: at `first`, the words of [sm recorded | rf], the arena (not with `inputs`), the
                 recorded rows' 32 lanes
dtype        := {"itemsize": n, "fields": [{"name", "offset", "format": "<u4" or a nested dtype, "shape": [..] if any}]}

BASE payload, a map: what chunks begin with if the first one is not at HEAD's `first`: a part of the run is stored, the rest
is simulated again from the keyframes
    first, state, memory, rows   as in HEAD

CHNK payload := number:u4 num:u4 first:u8 chain:u4, then a map: the chunk turns the state at c0 = first into those at
c0 + 1 .. c0 + num. chain = CRC32 of number, num, first and the crc of the chunk frame before (of chunk 0: of the BASE
or HEAD frame), continued from that chunk's chain (of chunk 0: 0): it reveals chunks that are missing, out of order or
foreign.
    totals       stall totals at c0 (warp-cycles per stall code)
    state        streams: keyframe and state changes
    rows, memory, writes   streams: register rows, memory words, and architectural registers written
    row_sum, mem_sum   if the chunk's number k > 0 is a multiple of 8**level, with the highest such level > 0: streams
                 like those of rows and memory without counts: every row and word written in chunks k - 8**level .. k - 1,
                 with its value at c0. The values at any chunk's start are thus found in at most 7 steps per level of 8.
    row_writes, mem_writes, row_sums, mem_sums   entries in rows, memory, row_sum, mem_sum
    printed      [[cycle, text], ..] lines printed by the kernel

ZONE payload, a map: the zone map that follows every 64th chunk, and the last. c = chunks it covers, each with the states
from its first cycle to the one after its last. bits := for each place, ceil(c / 8) bytes, a bit per chunk, low bit first
    first, num   number of the first of these chunks, and c
    words        number list: the first word of each kind. A kind: words at the same place in an array's records
                 (Layout.kinds)
    ranged, parts   for each kind: whether it is watched, and a blob of bits for its words, ascending: whether the chunk
                 changes them; if watched, u4 numbers word by word, chunk by chunk, in byte planes: the smallest value as
                 difference to the previous chunk, then the largest minus the smallest. The bytes of a word that
                 has fields of less than 4 bytes have their own minima and maxima. Kinds that are missing do not
                 change
    states       blob of u8 sets of states of each warp slot, chunk by chunk, in byte planes
    registers    blob of bits: registers written, register r of warp slot w at place 64 w + r modulo 64
    rows, pages  blobs of bits: recorded rows written; memory written, word w being at place w / 32 modulo 1024

KEYF payload := seal[32] number:u4 cycle:u8, then a map: the whole machine at a cycle, from which the run can go on.
Chunks may end before the run does; its other cycles are simulated again from the keyframe before them. Number 0, which is
not stored, is the machine before its first cycle, as it is made of HEAD. seal = BLAKE2b of the hash of HEAD's payload,
number, cycle and map, with a key of the user who recorded the run: keyframe.py says what it is for
    launch_index, finished, num_printed   as in Simulator.checkpoint
    totals       stall totals at its cycle
    printed      lines printed since the keyframe before, or what follows the last chunk
    pages        blob of ascending u4 page numbers, and pages of 1 KB, of [SM | design | rows | memory], each array in whole
                 pages: those that changed since keyframe number - 8**level, with the highest level of which its number is a
                 multiple. Any keyframe is thus found in at most 7 steps per level

INDX payload, a map
    first, num, chain, offset, row_writes, mem_writes, row_sums, mem_sums   number lists, one entry per chunk, inside a blob
    zones        in the same blob: number list, where each ZONE is, the first one that of chunks 0..63
    totals       in the same blob: number list, (chunks + 1) x codes; the last row is the state after the last chunk
    printed      in the same blob: all printed lines
    key_cycle, key_offset, key_totals   in the same blob: number lists, one entry per keyframe; totals: x codes
    base         where BASE is, 0 = nowhere
    end          map: finished (the kernel ran to its end), fault (text or nil), summary (the run's result or nil)

PART payload, a map like that of INDX, `base` included, of the chunks and keyframes since the PART before (totals without a
last row). It follows each ZONE of 64 chunks, and each 8th keyframe where there are no chunks: with it a file opens at once
while it grows, or if its run was killed
    before       where the PART before is, 0 = nowhere
"""
