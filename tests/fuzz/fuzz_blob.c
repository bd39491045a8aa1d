/* The weight-file reader against any bytes: a program names entries of several types in a file of the input's bytes. */
#include "base/file/file.h"
#include "fuzz/replay.h"

#include <millwright/mil.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONSTANT(name, type, offset)                                                                                   \
    type " " name " = const()[val = " type "(BLOBFILE(path = string(\"@model_path/w\"), offset = uint64(" offset       \
         ")))];\n"

static const char *const programs[] = {
    "program(1.3){func main<ios18>(fp16 x){" CONSTANT("a", "tensor<int8, [4]>", "64") "} -> (x);}",
    "program(1.3){func main<ios18>(fp16 x){" CONSTANT("a", "tensor<int4, [7]>", "64")
        CONSTANT("b", "tensor<int4, [7]>", "128") "} -> (x);}",
    "program(1.3){func main<ios18>(fp16 x){" CONSTANT("a", "tensor<fp16, [2, 2]>", "64")
        CONSTANT("b", "fp32", "18446744073709551615") "} -> (x);}",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    char *folder = NULL, path[1024];
    if (mw__file_make_private_folder(NULL, 0, &folder, &err) != MW_OK)
        abort();
    snprintf(path, sizeof path, "%s/w", folder);
    if (mw__file_write(NULL, path, data, size, false, &err) != MW_OK)
        abort();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        err = (mw_error){0};
        mw_graph *graph = mw_graph_parse_mil(programs[i], strlen(programs[i]), folder, NULL, &err);
        if (graph == NULL && err.status == MW_OK)
            abort();
        mw_graph_destroy(graph);
    }
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
    return 0;
}
