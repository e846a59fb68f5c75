#pragma once
#include <zlib.h>

// deflateInit2 and inflateInit2 are macros that add the header's version and the structure's size.
static inline int tally_deflate_init_raw(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
}
static inline int tally_inflate_init_raw(z_stream *stream) {
    return inflateInit2(stream, -15);
}
