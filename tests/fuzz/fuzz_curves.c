/* The reader of metrics files, and the picture of what it reads, against any bytes: the first chooses the options. No
 * more memory is taken than is promised, and a picture is closed. */
#include "fuzz/replay.h"
#include "support/meter.h"

#include <millwright/millwright.h>
#include <millwright/view.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *put_bytes(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/mw-fuzz-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    const int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    close(descriptor);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    static const char *const all[] = {"*"};
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_error err = {0};
    mw_plot_options options = mw_plot_defaults();
    options.allocator = &allocator;
    options.log_scale = (data[0] & 1) != 0;
    options.smoothing = (data[0] & 2) != 0 ? 0.9 : 0.0;
    options.series = (data[0] & 4) != 0 ? all : NULL;
    options.series_count = (data[0] & 4) != 0;
    options.width = (data[0] & 8) != 0 ? 320 : 1500;
    const char *path = put_bytes(data + 1, size - 1);
    char *svg = mw_plot_print_svg(path, &options, &err);
    unlink(path);
    if ((svg != NULL) != (err.status == MW_OK) || m.most > 64 * size + (16 << 20) || m.held != 0)
        abort();
    if (svg != NULL && strcmp(svg + strlen(svg) - 7, "</svg>\n") != 0)
        abort();
    mw_string_free(svg);
    return 0;
}
