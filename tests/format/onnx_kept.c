#include "onnx_kept.h"

#include <stdio.h>

const char *onnx_kept_folder;

const char *onnx_kept_type(mw_dtype dtype)
{
    switch (dtype) {
    case MW_F32:
        return "float32";
    case MW_I32:
        return "int32";
    case MW_I64:
        return "int64";
    case MW_BOOL:
        return "bool";
    case MW_I8:
        return "int8";
    case MW_U8:
        return "uint8";
    case MW_I16:
        return "int16";
    case MW_U16:
        return "uint16";
    case MW_U32:
        return "uint32";
    default:
        return NULL;
    }
}

static FILE *open_for(const char *name, const char *ending)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", onnx_kept_folder, name, ending);
    return fopen(path, "wb");
}

static bool copy_model(const char *name, const char *model)
{
    FILE *from = fopen(model, "rb"), *to = open_for(name, "onnx");
    bool good = from != NULL && to != NULL;
    for (int byte; good && (byte = fgetc(from)) != EOF;)
        good = fputc(byte, to) != EOF;
    if (from != NULL)
        fclose(from);
    return to != NULL && fclose(to) == 0 && good;
}

static bool put_ports(FILE *text, FILE *values, const onnx_kept_port *ports, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const size_t elements = (size_t)mw_shape_count(ports[i].shape);
        fprintf(text, "%s %s %s", i + 1 < count ? "input" : "output", ports[i].name, ports[i].type);
        for (int axis = 0; axis < ports[i].shape.rank; axis++)
            fprintf(text, " %lld", (long long)ports[i].shape.dim[axis]);
        fputc('\n', text);
        good = good && fwrite(ports[i].values, sizeof(double), elements, values) == elements;
    }
    return good;
}

bool onnx_kept(const char *name, const char *title, const char *model, const onnx_kept_port *ports, size_t count)
{
    FILE *text = open_for(name, "case"), *values = open_for(name, "f64");
    bool good = text != NULL && values != NULL && copy_model(name, model);
    if (good) {
        fprintf(text, "title %s\n", title);
        good = put_ports(text, values, ports, count);
    }
    if (text != NULL)
        good = fclose(text) == 0 && good;
    if (values != NULL)
        good = fclose(values) == 0 && good;
    return good;
}
