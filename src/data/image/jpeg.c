/* JPEG by libjpeg-turbo, whose errors jump and never end the process. Its own memory is the C library's. */
#include "data/image/image.h"

#if MW_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

enum { SCANS_MAX = 64 }; /* a progressive one has about 10; each goes over the whole picture */

typedef struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    const mw__image_source *source;
    mw__image *out;
    mw_status status;
    mw_error *err;
    char message[JMSG_LENGTH_MAX];
} decoder;

static void fail_jpeg(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    jpeg->err->format_message(jpeg, d->message);
    longjmp(d->jump, 1);
}

/* Warnings are silent, but for those of a picture that is not whole. */
static void warn(j_common_ptr jpeg, int level)
{
    if (level < 0 && (jpeg->err->msg_code == JWRN_JPEG_EOF || jpeg->err->msg_code == JWRN_HIT_MARKER))
        fail_jpeg(jpeg);
}

static void show_nothing(j_common_ptr jpeg) { (void)jpeg; }

static void watch_scans(j_common_ptr jpeg)
{
    decoder *d = jpeg->client_data;
    if (d->jpeg.input_scan_number <= SCANS_MAX)
        return;
    snprintf(d->message, sizeof d->message, "more than %d scans", SCANS_MAX);
    longjmp(d->jump, 1);
}

/* 1, 2, 4 or 8: of each axis every so many pixels become one. */
static unsigned choose_reduction(const decoder *d)
{
    const int64_t height = d->source->height_wanted, width = d->source->width_wanted;
    unsigned by = 8;
    if (height <= 0 || width <= 0)
        return 1;
    while (by > 1 && (d->jpeg.image_height / by < (uint64_t)height || d->jpeg.image_width / by < (uint64_t)width))
        by /= 2;
    return by;
}

static bool decode(decoder *d)
{
    if (setjmp(d->jump) != 0)
        return false;
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.client_data = d;
    d->jpeg.progress = &d->progress;
    d->progress.progress_monitor = watch_scans;
    jpeg_mem_src(&d->jpeg, d->source->data, (unsigned long)d->source->size);
    jpeg_read_header(&d->jpeg, TRUE);
    d->status = mw__image_check_size(d->source, d->jpeg.image_height, d->jpeg.image_width, d->err);
    if (d->status != MW_OK)
        return true;
    d->jpeg.scale_num = 1;
    d->jpeg.scale_denom = choose_reduction(d);
    jpeg_calc_output_dimensions(&d->jpeg);
    d->status = mw__image_begin(d->source, d->jpeg.output_height, d->jpeg.output_width, 3, d->out, d->err);
    if (d->status != MW_OK)
        return true;
    d->jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&d->jpeg);
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        JSAMPROW row = d->out->pixels + (size_t)d->jpeg.output_scanline * (size_t)d->out->width * 3;
        jpeg_read_scanlines(&d->jpeg, &row, 1);
    }
    jpeg_finish_decompress(&d->jpeg);
    return true;
}

mw_status mw__jpeg_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    decoder *d = mw__alloc(source->allocator, 1, sizeof *d, err);
    if (d == NULL)
        return MW_ERROR_MEMORY;
    d->source = source;
    d->out = out;
    d->err = err;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = fail_jpeg;
    d->errors.emit_message = warn;
    d->errors.output_message = show_nothing;
    mw_status status = MW_OK;
    if (!decode(d))
        status = mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no JPEG that can be read: %s", source->path, d->message);
    else
        status = d->status;
    jpeg_destroy_decompress(&d->jpeg);
    mw__free(source->allocator, d);
    return status;
}

#else

mw_status mw__jpeg_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    (void)out;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.300s\" is a JPEG, and this library was built without libjpeg",
                    source->path);
}

#endif
