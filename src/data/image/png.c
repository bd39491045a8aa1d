/* PNG by libpng, whose errors jump: everything that it calls lies in one state, which one function frees. */
#include "data/image/image.h"

#if MW_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { MARK = 8, FRAME = 12 }; /* bytes of the signature; of a chunk besides its data: length, type, checksum */

typedef struct decoder {
    const mw__image_source *source;
    size_t at;
    size_t chunk; /* where the next chunk begins */
    mw__image *out;
    png_struct *png;
    png_info *info;
    png_byte **rows; /* [height] */
    mw_status status;
    mw_error *err;
    char message[128];
} decoder;

static void *allocate(png_struct *png, png_alloc_size_t size)
{
    const decoder *d = png_get_mem_ptr(png);
    return mw__alloc(d->source->allocator, size, 1, d->err);
}

static void release(png_struct *png, void *pointer)
{
    const decoder *d = png_get_mem_ptr(png);
    mw__free(d->source->allocator, pointer);
}

static void fail_png(png_struct *png, const char *message)
{
    decoder *d = png_get_error_ptr(png);
    snprintf(d->message, sizeof d->message, "%s", message);
    png_longjmp(png, 1);
}

static void ignore(png_struct *png, const char *message) { (void)png, (void)message; }

static size_t length_of_chunk(const decoder *d)
{
    const unsigned char *length = d->source->data + d->chunk;
    return (size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 | length[3];
}

/* Ancillary chunks have a small first letter. Of them only transparency says something of the pixels. */
static bool is_passed_over(const decoder *d)
{
    const unsigned char *name = d->source->data + d->chunk + 4;
    return (name[0] & 0x20) != 0 && !(d->source->keep_alpha && memcmp(name, "tRNS", 4) == 0);
}

/* Text, Exif and profiles say nothing of the pixels, and a few bytes of them can announce or unpack to gigabytes:
 * libpng never sees them. */
static void skip_ancillary(decoder *d)
{
    while (d->source->size - d->chunk >= FRAME) {
        const size_t length = length_of_chunk(d);
        const bool is_ancillary = is_passed_over(d);
        if (length > d->source->size - d->chunk - FRAME)
            png_error(d->png, "it ends too early");
        d->at = d->chunk;
        d->chunk += length + FRAME;
        if (!is_ancillary)
            return;
        d->at = d->chunk;
    }
}

static void read_bytes(png_struct *png, png_byte *out, size_t size)
{
    decoder *d = png_get_io_ptr(png);
    if (d->at == d->chunk)
        skip_ancillary(d);
    if (size > d->source->size - d->at)
        png_error(png, "it ends too early");
    memcpy(out, d->source->data + d->at, size);
    d->at += size;
}

/* Red, green, blue, and opacity if it is asked for and there. */
static int count_channels(const decoder *d)
{
    const bool has_alpha = (png_get_color_type(d->png, d->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                           png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0;
    return d->source->keep_alpha && has_alpha ? 4 : 3;
}

/* Whatever there is becomes 8 bits a channel. */
static void set_up(decoder *d)
{
    png_set_expand(d->png);
    png_set_strip_16(d->png);
    if (d->out->channels == 3)
        png_set_strip_alpha(d->png);
    png_set_gray_to_rgb(d->png);
    png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
}

static bool decode(decoder *d)
{
    if (setjmp(png_jmpbuf(d->png)) != 0)
        return false;
    png_set_read_fn(d->png, d, read_bytes);
    png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(d->png, d->info);
    const png_uint_32 height = png_get_image_height(d->png, d->info), width = png_get_image_width(d->png, d->info);
    d->status = mw__image_begin(d->source, height, width, count_channels(d), d->out, d->err);
    if (d->status != MW_OK)
        return true;
    set_up(d);
    const size_t row = (size_t)width * (size_t)d->out->channels;
    if (png_get_rowbytes(d->png, d->info) != row)
        png_error(d->png, "its rows are not what the header says");
    d->rows = mw__alloc(d->source->allocator, height, sizeof *d->rows, d->err);
    if (d->rows == NULL) {
        d->status = MW_ERROR_MEMORY;
        return true;
    }
    for (png_uint_32 i = 0; i < height; i++)
        d->rows[i] = d->out->pixels + (size_t)i * row;
    png_read_image(d->png, d->rows);
    png_read_end(d->png, NULL);
    return true;
}

static mw_status run_decoder(decoder *d)
{
    d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, d, fail_png, ignore, d, allocate, release);
    d->info = d->png != NULL ? png_create_info_struct(d->png) : NULL;
    if (d->info == NULL)
        return mw__fail(d->err, MW_ERROR_MEMORY, "\"%.300s\": libpng cannot begin", d->source->path);
    if (decode(d))
        return d->status;
    if (mw__failed(d->err)) /* a request of libpng's was refused */
        return d->err->status;
    return mw__fail(d->err, MW_ERROR_FORMAT, "\"%.300s\" is no PNG that can be read: %s", d->source->path, d->message);
}

mw_status mw__png_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    mw_error reason = {0};
    decoder d = {.source = source, .chunk = MARK, .out = out, .err = &reason};
    const mw_status status = run_decoder(&d);
    if (d.png != NULL)
        png_destroy_read_struct(&d.png, &d.info, NULL);
    mw__free(source->allocator, d.rows);
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", reason.message);
}

#else

mw_status mw__png_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    (void)out;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.300s\" is a PNG, and this library was built without libpng",
                    source->path);
}

#endif
