/* The public .hwx files, and what was found in each by eye. */
#include "chip/hwx/hwx_files.h"

#include <stdio.h>
#include <stdlib.h>

const hwx_file hwx_files[HWX_FILES] = {
    {"compiled_model_ee9d5b1b", "1x1 convolution of [1, 3, 1, 1] with zero weights and a bias of ones",
     "conv 1x1 of 3 to 2 channels, bias", 1, 1, 2},
    {"ops_concat_0f988933", "concat of [1, 16384, 1, 1] and [1, 16, 1, 1]", "copy", 2, 0, 0},
    {"ops_concat_fb59e09a", "concat of two [1, 16, 1, 1]", "copy", 2, 0, 0},
    {"ops_conv_8a6bd427", "1x1 convolution, 3 to 3 channels, weights are the halves 0 to 8",
     "conv 1x1 of 3 to 3 channels", 1, 1, 3},
    {"ops_conv_ea5905f3", "1x1 convolution, 3 to 3 channels, weights 2.0", "conv 1x1 of 3 to 3 channels", 1, 1, 3},
    {"ops_gemm_bc27a277", "product with a matrix of 512 x 512 zeros", "conv 1x1 of 512 to 512 channels", 1, 1, 16},
    {"ops_gemm_ef7e5c24", "product with a matrix of 64 x 64 zeros", "conv 1x1 of 64 to 64 channels", 1, 1, 16},
    {"ops_relu_d66a665b", "relu of [1, 1, 1, 16]", "relu", 1, 0, 0},
    {"ops_relu_dc54cc54", "relu of [1, 1, 1, 77]", "relu", 1, 0, 0},
    {"ops_sigmoid_7cc79341", "sigmoid of [1, 1, 1, 77]", "activation by a table", 1, 1, 1},
    {"ops_sum_1b1855b8", "sum of two [1, 64, 1, 1]", "add", 1, 0, 0},
};

uint8_t *hwx_bytes_read(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    *out_size = 0;
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    uint8_t *bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (bytes != NULL)
        *out_size = fread(bytes, 1, (size_t)size, file);
    fclose(file);
    return bytes;
}

uint8_t *hwx_file_read(const hwx_file *file, size_t *out_size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/hwx/tinygrad_ane_%s.hwx", MW_SHARED_DATA, file->name);
    return hwx_bytes_read(path, out_size);
}

bool hwx_files_present(void)
{
    size_t size;
    uint8_t *bytes = hwx_file_read(&hwx_files[0], &size);
    free(bytes);
    return bytes != NULL;
}
