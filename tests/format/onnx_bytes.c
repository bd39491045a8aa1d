#include "onnx_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void varint(onnx_bytes *to, uint64_t value)
{
    if (to->size + 10 > sizeof to->data)
        abort();
    for (; value >= 0x80; value >>= 7)
        to->data[to->size++] = (unsigned char)(value | 0x80);
    to->data[to->size++] = (unsigned char)value;
}

void onnx_number(onnx_bytes *to, unsigned field, uint64_t value)
{
    varint(to, field << 3);
    varint(to, value);
}

void onnx_float(onnx_bytes *to, unsigned field, float value)
{
    varint(to, field << 3 | 5);
    if (to->size + 4 > sizeof to->data)
        abort();
    memcpy(to->data + to->size, &value, 4);
    to->size += 4;
}

void onnx_raw(onnx_bytes *to, unsigned field, const void *data, size_t size)
{
    varint(to, field << 3 | 2);
    varint(to, size);
    if (to->size + size > sizeof to->data)
        abort();
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

void onnx_text(onnx_bytes *to, unsigned field, const char *text) { onnx_raw(to, field, text, strlen(text)); }

void onnx_message(onnx_bytes *to, unsigned field, const onnx_bytes *message)
{
    onnx_raw(to, field, message->data, message->size);
}

onnx_bytes onnx_node(const char *operation, const char *inputs, const char *output)
{
    onnx_bytes node = {.size = 0};
    char copy[256], *saved = NULL;
    snprintf(copy, sizeof copy, "%s", inputs);
    for (char *word = strtok_r(copy, " ", &saved); word != NULL; word = strtok_r(NULL, " ", &saved))
        onnx_text(&node, 1, strcmp(word, "-") == 0 ? "" : word);
    onnx_text(&node, 2, output);
    onnx_text(&node, 4, operation);
    return node;
}

void onnx_int_attribute(onnx_bytes *node, const char *name, int64_t value)
{
    onnx_bytes attribute = {.size = 0};
    onnx_text(&attribute, 1, name);
    onnx_number(&attribute, 3, (uint64_t)value);
    onnx_number(&attribute, 20, 2);
    onnx_message(node, 5, &attribute);
}

void onnx_ints_attribute(onnx_bytes *node, const char *name, const int64_t *values, size_t count)
{
    onnx_bytes attribute = {.size = 0};
    onnx_text(&attribute, 1, name);
    for (size_t i = 0; i < count; i++)
        onnx_number(&attribute, 8, (uint64_t)values[i]);
    onnx_number(&attribute, 20, 7);
    onnx_message(node, 5, &attribute);
}

void onnx_text_attribute(onnx_bytes *node, const char *name, const char *text)
{
    onnx_bytes attribute = {.size = 0};
    onnx_text(&attribute, 1, name);
    onnx_text(&attribute, 4, text);
    onnx_number(&attribute, 20, 3);
    onnx_message(node, 5, &attribute);
}

onnx_bytes onnx_tensor_of(const char *name, int type, const int64_t *extents, int rank, const void *data, size_t size)
{
    onnx_bytes tensor = {.size = 0};
    for (int i = 0; i < rank; i++)
        onnx_number(&tensor, 1, (uint64_t)extents[i]);
    onnx_number(&tensor, 2, (uint64_t)type);
    onnx_text(&tensor, 8, name);
    onnx_raw(&tensor, 9, data, size);
    return tensor;
}

onnx_bytes onnx_port(const char *name, const int64_t *extents, int rank)
{
    onnx_bytes shape = {.size = 0}, tensor = {.size = 0}, type = {.size = 0}, value = {.size = 0};
    for (int i = 0; i < rank; i++) {
        onnx_bytes dimension = {.size = 0};
        onnx_number(&dimension, 1, (uint64_t)extents[i]);
        onnx_message(&shape, 1, &dimension);
    }
    onnx_number(&tensor, 1, 1);
    onnx_message(&tensor, 2, &shape);
    onnx_message(&type, 1, &tensor);
    onnx_text(&value, 1, name);
    onnx_message(&value, 2, &type);
    return value;
}

onnx_bytes onnx_value(const char *name, const char *dimension)
{
    onnx_bytes two = {.size = 0}, three = {.size = 0}, shape = {.size = 0}, tensor = {.size = 0}, type = {.size = 0};
    onnx_bytes value = {.size = 0};
    if (dimension != NULL)
        onnx_text(&two, 2, dimension);
    else
        onnx_number(&two, 1, 2);
    onnx_number(&three, 1, 3);
    onnx_message(&shape, 1, &two);
    onnx_message(&shape, 1, &three);
    onnx_number(&tensor, 1, 1);
    onnx_message(&tensor, 2, &shape);
    onnx_message(&type, 1, &tensor);
    onnx_text(&value, 1, name);
    onnx_message(&value, 2, &type);
    return value;
}

onnx_bytes onnx_zeros(const char *name, int rows, int columns)
{
    static const unsigned char zeros[4096];
    onnx_bytes tensor = {.size = 0};
    onnx_number(&tensor, 1, (uint64_t)rows);
    onnx_number(&tensor, 1, (uint64_t)columns);
    onnx_number(&tensor, 2, 1);
    onnx_text(&tensor, 8, name);
    onnx_raw(&tensor, 9, zeros, 4 * (size_t)rows * (size_t)columns);
    return tensor;
}

onnx_bytes onnx_model_of(const onnx_bytes *graph, int opset)
{
    onnx_bytes set = {.size = 0}, model = {.size = 0};
    onnx_number(&set, 2, (uint64_t)opset);
    onnx_number(&model, 1, 7);
    onnx_message(&model, 7, graph);
    onnx_message(&model, 8, &set);
    return model;
}

onnx_bytes onnx_model(const onnx_bytes *graph) { return onnx_model_of(graph, 13); }

void onnx_add_node(onnx_bytes *graph, const char *operation, const char *inputs, const char *output)
{
    const onnx_bytes node = onnx_node(operation, inputs, output);
    onnx_message(graph, 1, &node);
}

void onnx_add_graph(onnx_bytes *node, const char *name, const onnx_bytes *graph)
{
    onnx_bytes attribute = {.size = 0};
    onnx_text(&attribute, 1, name);
    onnx_message(&attribute, 6, graph);
    onnx_number(&attribute, 20, 5);
    onnx_message(node, 5, &attribute);
}

void onnx_add_name(onnx_bytes *graph, unsigned field, const char *name)
{
    onnx_bytes value = {.size = 0};
    onnx_text(&value, 1, name);
    onnx_message(graph, field, &value);
}
