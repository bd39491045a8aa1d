/* The one number of Exif that changes pixels. Lengths are the file's word: each is compared with what is left. */
#include "data/image/image.h"

#include <string.h>

/* What is left to be read. */
typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

static bool skip_bytes(bytes *b, size_t count)
{
    if (count > b->left)
        return false;
    b->at += count;
    b->left -= count;
    return true;
}

static uint32_t number_at(const uint8_t *at, int size, bool is_little)
{
    uint32_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | at[is_little ? size - 1 - i : i];
    return value;
}

/* ---- TIFF: a mark, the place of a list, and in it entries of tag, type, count and value ---- */

static int orientation_of_entry(const uint8_t *entry, bool is_little)
{
    enum { ORIENTATION = 0x0112, SHORT = 3 };
    if (number_at(entry, 2, is_little) != ORIENTATION || number_at(entry + 2, 2, is_little) != SHORT)
        return 0;
    const uint32_t value = number_at(entry + 8, 2, is_little);
    return value >= 1 && value <= 8 ? (int)value : 1;
}

static int orientation_of_tiff(bytes b)
{
    enum { ENTRY = 12 };
    if (b.left < 8 || (memcmp(b.at, "II*\0", 4) != 0 && memcmp(b.at, "MM\0*", 4) != 0))
        return 1;
    const bool is_little = b.at[0] == 'I';
    if (!skip_bytes(&b, number_at(b.at + 4, 4, is_little)) || b.left < 2)
        return 1;
    size_t entries = number_at(b.at, 2, is_little);
    int found = 0;
    for (skip_bytes(&b, 2); entries > 0 && b.left >= ENTRY && found == 0; entries--, skip_bytes(&b, ENTRY))
        found = orientation_of_entry(b.at, is_little);
    return found != 0 ? found : 1;
}

/* ---- where it stands in a file ---- */

static bool begins_with_exif(const bytes *b) { return b->left >= 6 && memcmp(b->at, "Exif\0\0", 6) == 0; }

/* Segments of 0xff, a letter, and a length with itself, up to the pixels. */
static bool find_in_jpeg(bytes b, bytes *out)
{
    enum { APP1 = 0xe1, SCAN = 0xda, END = 0xd9 };
    for (skip_bytes(&b, 2); b.left >= 4 && b.at[0] == 0xff;) {
        if (b.at[1] == 0xff) { /* fill */
            skip_bytes(&b, 1);
            continue;
        }
        const size_t length = number_at(b.at + 2, 2, false);
        *out = (bytes){b.at + 4, length - 2};
        if (b.at[1] == SCAN || b.at[1] == END || length < 2 || length > b.left - 2)
            return false;
        if (b.at[1] == APP1 && begins_with_exif(out))
            return skip_bytes(out, 6);
        skip_bytes(&b, length + 2);
    }
    return false;
}

/* Chunks of length, name, bytes and a checksum. */
static bool find_in_png(bytes b, bytes *out)
{
    enum { FRAME = 12 };
    for (skip_bytes(&b, 8); b.left >= FRAME;) {
        const size_t length = number_at(b.at, 4, false);
        if (length > b.left - FRAME)
            return false;
        *out = (bytes){b.at + 8, length};
        if (memcmp(b.at + 4, "eXIf", 4) == 0)
            return true;
        skip_bytes(&b, length + FRAME);
    }
    return false;
}

/* Chunks of name, length and bytes, of even length. Some write JPEG's mark before the bytes. */
static bool find_in_webp(bytes b, bytes *out)
{
    for (skip_bytes(&b, 12); b.left >= 8;) {
        const size_t length = number_at(b.at + 4, 4, true);
        if (length > b.left - 8)
            return false;
        *out = (bytes){b.at + 8, length};
        if (memcmp(b.at, "EXIF", 4) == 0)
            return !begins_with_exif(out) || skip_bytes(out, 6);
        skip_bytes(&b, 8);
        skip_bytes(&b, length + (length % 2 != 0 && length < b.left));
    }
    return false;
}

int mw__image_orientation(const uint8_t *data, size_t size)
{
    bytes exif, file = {data, size};
    const bool found = size < 12             ? false
                       : data[0] == 0xff     ? find_in_jpeg(file, &exif)
                       : data[0] == 0x89     ? find_in_png(file, &exif)
                       : data[0] == (int)'R' ? find_in_webp(file, &exif)
                                             : false;
    return found ? orientation_of_tiff(exif) : 1;
}

/* ---- turning ---- */

/* A number of Exif: rows and columns change places first, then each may be mirrored. */
typedef struct turn {
    bool swap, mirror_rows, mirror_columns; /* of the stored picture */
} turn;

static const turn turns[9] = {
    [2] = {.mirror_columns = true},
    [3] = {.mirror_rows = true, .mirror_columns = true},
    [4] = {.mirror_rows = true},
    [5] = {.swap = true},
    [6] = {.swap = true, .mirror_rows = true},
    [7] = {.swap = true, .mirror_rows = true, .mirror_columns = true},
    [8] = {.swap = true, .mirror_columns = true},
};

static void turn_pixels(const mw__image *in, turn t, const mw__image *out)
{
    const size_t pixel = (size_t)in->channels;
    uint8_t *to = out->pixels;
    for (int64_t y = 0; y < out->height; y++) {
        for (int64_t x = 0; x < out->width; x++, to += pixel) {
            const int64_t row = t.swap ? x : y, column = t.swap ? y : x;
            const int64_t from_row = t.mirror_rows ? in->height - 1 - row : row;
            const int64_t from_column = t.mirror_columns ? in->width - 1 - column : column;
            memcpy(to, in->pixels + (size_t)(from_row * in->width + from_column) * pixel, pixel);
        }
    }
}

mw_status mw__image_turn(const mw_allocator *allocator, mw__image *image, int orientation, mw_error *err)
{
    if (orientation < 2 || orientation > 8)
        return MW_OK;
    const turn t = turns[orientation];
    mw__image turned = *image;
    if (t.swap) {
        turned.height = image->width;
        turned.width = image->height;
    }
    turned.pixels = mw__alloc(allocator, (size_t)(image->height * image->width), (size_t)image->channels, err);
    if (turned.pixels == NULL)
        return MW_ERROR_MEMORY;
    turn_pixels(image, t, &turned);
    mw__free(allocator, image->pixels);
    *image = turned;
    return MW_OK;
}
