#include "engine/cache/sum.h"

#include "base/file/file.h"
#include "base/number/hash.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHUNK = 1 << 20 };

uint64_t mw__cache_sum_of(const void *data, size_t size) { return mw__hash64(data, size, 0); }

void mw__cache_sum_text(uint64_t sum, char out[MW__SUM_HEX]) { snprintf(out, MW__SUM_HEX, "%016" PRIx64, sum); }

/* Each part's hash begins with that of the parts before. */
static bool sum_open(const mw__file *file, char *chunk, uint64_t *out)
{
    mw_error ignored = {0};
    *out = 0;
    for (uint64_t at = 0; at < file->size;) {
        const size_t part = file->size - at < CHUNK ? (size_t)(file->size - at) : CHUNK;
        if (mw__file_read_at(file, at, chunk, part, "", &ignored) != MW_OK)
            return false;
        *out = mw__hash64(chunk, part, *out);
        at += part;
    }
    return true;
}

bool mw__cache_sum_file(const mw_allocator *allocator, const char *folder, const char *name, char out[MW__SUM_LINE],
                        uint64_t *out_bytes)
{
    mw_error ignored = {0};
    mw__file file;
    if (mw__file_open_below(&file, folder, name, &ignored) != MW_OK)
        return false;
    uint64_t sum = 0;
    char *chunk = mw__alloc(allocator, CHUNK, 1, &ignored);
    const bool good = chunk != NULL && sum_open(&file, chunk, &sum);
    *out_bytes = file.size;
    snprintf(out, MW__SUM_LINE, "%" PRIu64 " %016" PRIx64, file.size, sum);
    mw__free(allocator, chunk);
    mw__file_close(&file);
    return good;
}
