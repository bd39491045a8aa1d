/* Helpers of graph_check.h. */
#include "graph_check.h"

#include <stdarg.h>

mw_graph *make_graph(mw_opset opset, const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    options.allocator = allocator;
    return mw_graph_create(&options, NULL);
}

mw_tensor *leaf(mw_graph *graph, mw_dtype dtype, mw_shape shape)
{
    char name[32];
    snprintf(name, sizeof name, "in%d", graph != NULL ? (int)graph->value_count : 0);
    return mw_input(graph, name, dtype, shape);
}

mw_tensor *ints(mw_graph *graph, const int32_t *values, int64_t count)
{
    return mw_constant(graph, MW_I32, MW_SHAPE(count), values);
}

mw_tensor *one(mw_graph *graph, double value) { return mw_scalar(graph, MW_I32, value); }

mw_tensor *op(mw_graph *graph, const char *operation, ...)
{
    mw_argument arguments[16];
    mw_tensor *values[16];
    size_t count = 0;
    va_list list;
    va_start(list, operation);
    for (const char *name = va_arg(list, const char *); name != NULL; name = va_arg(list, const char *)) {
        values[count] = va_arg(list, mw_tensor *);
        arguments[count] = (mw_argument){.name = name, .values = &values[count], .count = 1};
        count++;
    }
    va_end(list);
    mw_tensor *result;
    return mw_op(graph, operation, arguments, count, &result, 1, NULL) == MW_OK ? result : NULL;
}

bool check_type(const mw_tensor *tensor, mw_dtype dtype, mw_shape shape, const char *file, int line)
{
    char actual[200], wanted[200];
    mw__shape_print(mw_tensor_shape(tensor), actual, sizeof actual);
    mw__shape_print(shape, wanted, sizeof wanted);
    return check_note(tensor != NULL && mw_tensor_dtype(tensor) == dtype && strcmp(actual, wanted) == 0, file, line,
                      "type is %s %s, not %s %s", mw_dtype_name(mw_tensor_dtype(tensor)), actual, mw_dtype_name(dtype),
                      wanted);
}

void drop_places(char *message)
{
    char *write = message;
    for (const char *read = message; *read != '\0';) {
        size_t digits = read[0] == ' ' && read[1] == '#' ? strspn(read + 2, "0123456789") : 0;
        read += digits > 0 ? digits + 2 : 0;
        if (*read != '\0')
            *write++ = *read++;
    }
    *write = '\0';
}
