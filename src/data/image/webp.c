/* WebP by libwebp, still pictures only. Its own memory is the C library's. */
#include "data/image/image.h"

#if MW_HAVE_WEBP
#include <webp/decode.h>

static const char *reason_of(VP8StatusCode code)
{
    switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return "libwebp has no memory for it";
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return "it ends too early";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return "it has a feature that libwebp does not know";
    default:
        return "its bytes are no picture";
    }
}

static mw_status fail_webp(const mw__image_source *source, const char *reason, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no WebP that can be read: %s", source->path, reason);
}

/* The configuration names the buffer, so that nothing of the size of the picture is allocated twice. */
static VP8StatusCode decode(const mw__image_source *source, const mw__image *out, WebPDecoderConfig *config)
{
    const size_t stride = (size_t)out->width * (size_t)out->channels;
    config->output.colorspace = out->channels == 4 ? MODE_RGBA : MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = out->pixels;
    config->output.u.RGBA.stride = (int)stride;
    config->output.u.RGBA.size = stride * (size_t)out->height;
    const VP8StatusCode code = WebPDecode(source->data, source->size, config);
    WebPFreeDecBuffer(&config->output);
    return code;
}

mw_status mw__webp_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.300s\": libwebp has another version than its header",
                        source->path);
    VP8StatusCode code = WebPGetFeatures(source->data, source->size, &config.input);
    if (code != VP8_STATUS_OK)
        return fail_webp(source, reason_of(code), err);
    if (config.input.has_animation)
        return fail_webp(source, "it is an animation", err);
    const int channels = source->keep_alpha && config.input.has_alpha ? 4 : 3;
    MW_TRY(mw__image_begin(source, (uint64_t)config.input.height, (uint64_t)config.input.width, channels, out, err));
    code = decode(source, out, &config);
    return code == VP8_STATUS_OK ? MW_OK : fail_webp(source, reason_of(code), err);
}

#else

mw_status mw__webp_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    (void)out;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.300s\" is a WebP, and this library was built without libwebp",
                    source->path);
}

#endif
