/* The table of characters that a SentencePiece model carries: texts by prefix, and what each becomes. */
#include "base/number/bytes.h"
#include "base/text/error.h"
#include "text/normal/normal.h"
#include "text/unicode/unicode.h"

#include <string.h>

struct mw__charsmap {
    const char *units; /* [unit_count], little endian: a double array of darts-clone */
    size_t unit_count;
    const char *texts; /* each ends with NUL */
    size_t text_size;
};

const struct mw__charsmap *mw__normalizer_read_charsmap(mw__arena *arena, const char *data, size_t size, mw_error *err)
{
    struct mw__charsmap *map = mw__arena_alloc(arena, 1, sizeof *map, err);
    if (map == NULL)
        return NULL;
    const size_t bytes = size >= 4 ? mw__bytes_u32((const unsigned char *)data) : 0;
    if (bytes == 0 || bytes % 4 != 0 || bytes > size - 4 || bytes + 4 == size || data[size - 1] != '\0') {
        mw__fail(err, MW_ERROR_FORMAT, "the table of characters of %zu bytes says that its index has %zu", size, bytes);
        return NULL;
    }
    *map = (struct mw__charsmap){data + 4, bytes / 4, data + 4 + bytes, size - 4 - bytes};
    return map;
}

const char *mw__normalizer_charsmap_data(const struct mw__charsmap *map, size_t *size)
{
    *size = 4 + 4 * map->unit_count + map->text_size;
    return map->units - 4;
}

static uint32_t unit_at(const struct mw__charsmap *map, size_t at)
{
    return at < map->unit_count ? mw__bytes_u32((const unsigned char *)map->units + 4 * at) : 0;
}

static size_t offset_of(uint32_t unit) { return (size_t)(unit >> 10) << ((unit & 0x200) >> 6); }

/* The longest prefix that the table has: its length and what it becomes; 0 = none. */
static size_t find_prefix(const struct mw__charsmap *map, const char *text, size_t size, const char **out)
{
    size_t found = 0, at = offset_of(unit_at(map, 0));
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        at ^= byte;
        const uint32_t unit = unit_at(map, at);
        if ((unit & 0x800000ffU) != byte)
            break;
        at ^= offset_of(unit);
        const size_t place = unit_at(map, at) & 0x7fffffffU;
        if ((unit >> 8 & 1) != 0 && place < map->text_size) {
            found = i + 1;
            *out = map->texts + place;
        }
    }
    return found;
}

void mw__normalizer_charsmap(const struct mw__charsmap *map, const mw__aligned *in, mw__aligned *out)
{
    for (size_t at = 0; at < in->size && out->err->status == MW_OK;) {
        const char *becomes = NULL;
        const size_t size = find_prefix(map, in->bytes + at, in->size - at, &becomes);
        const mw__char c = mw__unicode_read(in->bytes + at, in->bytes + in->size);
        if (size > 0)
            mw__aligned_put(out, becomes, strlen(becomes), mw__aligned_from(in, at), mw__aligned_to(in, at + size - 1));
        else
            mw__aligned_put_code(out, c.code, in, at);
        at += size > 0 ? size : c.length;
    }
}
