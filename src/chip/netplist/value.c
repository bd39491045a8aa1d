/* Values of property lists by key, and the axes. */
#include "chip/netplist/netplist.h"

#include "base/number/fp16.h"

#include <string.h>

const char *const mw__net_axis_names[MW__NET_AXES] = {"Batch", "Channel", "Depth", "Height", "Width"};
const char *const mw__net_extent_keys[MW__NET_AXES] = {"BatchSize", "Channels", "Depth", "Height", "Width"};

int mw__net_axis(int axis, int rank, int of_rank)
{
    const int at = of_rank - rank + axis;
    return of_rank == 4 && at >= MW__NET_DEPTH ? at + 1 : at;
}

bool mw__net_dims_equal(mw__net_dims a, mw__net_dims b) { return memcmp(&a, &b, sizeof a) == 0; }

/* ---- reading ---- */

static plist_t find_value(plist_t dict, const char *key, plist_type type)
{
    if (dict == NULL || plist_get_node_type(dict) != PLIST_DICT)
        return NULL;
    plist_t node = plist_dict_get_item(dict, key);
    return node != NULL && plist_get_node_type(node) == type ? node : NULL;
}

const char *mw__net_string(plist_t dict, const char *key)
{
    plist_t node = find_value(dict, key, PLIST_STRING);
    return node != NULL ? plist_get_string_ptr(node, NULL) : NULL;
}

plist_t mw__net_list(plist_t dict, const char *key, size_t *count)
{
    plist_t node = find_value(dict, key, PLIST_ARRAY);
    *count = node != NULL ? plist_array_get_size(node) : 0;
    return node;
}

plist_t mw__net_dict(plist_t dict, const char *key) { return find_value(dict, key, PLIST_DICT); }

const char *mw__net_string_at(plist_t list, size_t index)
{
    plist_t node = plist_array_get_item(list, (uint32_t)index);
    return node != NULL && plist_get_node_type(node) == PLIST_STRING ? plist_get_string_ptr(node, NULL) : NULL;
}

static int64_t int_of(plist_t node, int64_t fallback)
{
    uint64_t value = 0;
    if (node == NULL || plist_get_node_type(node) != PLIST_UINT)
        return fallback;
    plist_get_uint_val(node, &value);
    return value <= INT32_MAX ? (int64_t)value : fallback;
}

int64_t mw__net_int(plist_t dict, const char *key, int64_t fallback)
{
    return int_of(find_value(dict, key, PLIST_UINT), fallback);
}

int64_t mw__net_int_at(plist_t list, size_t index, int64_t fallback)
{
    return int_of(plist_array_get_item(list, (uint32_t)index), fallback);
}

bool mw__net_bool(plist_t dict, const char *key, bool fallback)
{
    uint8_t value = 0;
    plist_t node = find_value(dict, key, PLIST_BOOLEAN);
    if (node == NULL)
        return fallback;
    plist_get_bool_val(node, &value);
    return value != 0;
}

double mw__net_half(plist_t dict, const char *key, double fallback)
{
    const int64_t bits = mw__net_int(dict, key, -1);
    return bits >= 0 && bits <= UINT16_MAX ? (double)mw__fp16_to_float((uint16_t)bits) : fallback;
}

double mw__net_number(plist_t dict, const char *key, double fallback)
{
    double value = 0;
    plist_t node = find_value(dict, key, PLIST_REAL);
    if (node != NULL)
        plist_get_real_val(node, &value);
    return node != NULL ? value : (double)mw__net_int(dict, key, (int64_t)fallback);
}

/* ---- making ---- */

void mw__net_set_int(plist_t dict, const char *key, int64_t value)
{
    plist_dict_set_item(dict, key, plist_new_uint((uint64_t)value));
}

void mw__net_set_bool(plist_t dict, const char *key, bool value)
{
    plist_dict_set_item(dict, key, plist_new_bool(value));
}

void mw__net_set_half(plist_t dict, const char *key, double value)
{
    mw__net_set_int(dict, key, mw__fp16_from_double(value));
}

void mw__net_set_string(plist_t dict, const char *key, const char *value)
{
    plist_dict_set_item(dict, key, plist_new_string(value));
}
