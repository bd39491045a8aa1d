/* Kernels, strides and borders of convolution and pooling. */
#ifndef MW__FORMAT_ONNX_WINDOW_H
#define MW__FORMAT_ONNX_WINDOW_H

#include "format/onnx/read/import.h"

enum { MW__ONNX_SPATIAL_MAX = 3 };

typedef struct mw__onnx_window {
    int axes; /* spatial ones */
    int64_t kernel[MW__ONNX_SPATIAL_MAX], stride[MW__ONNX_SPATIAL_MAX], dilation[MW__ONNX_SPATIAL_MAX];
    int64_t pad[2 * MW__ONNX_SPATIAL_MAX]; /* before and after each axis */
    bool ceil_mode;
    bool same, same_lower; /* auto_pad: pad follows from the extents */
} mw__onnx_window;

/* Reads the attributes for a tensor of these extents [N, C, ..]. The kernel is `kernel` (of a weight) or, if NULL, that
 * of the attribute. Refuses other than one to three spatial axes, and numbers that are out of range. */
mw_status mw__onnx_window_read(mw__onnx_node *node, mw_shape x, const int64_t *kernel, mw__onnx_window *out);

/* True if any border is asked for. */
bool mw__onnx_window_pads(const mw__onnx_window *window);

#endif
