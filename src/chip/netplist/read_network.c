/* A procedure with its network: inputs, constants, units in their order, outputs. */
#include "base/file/file.h"
#include "base/number/fp16.h"
#include "chip/netplist/netplist.h"
#include "graph/ir/op_build.h"
#include "graph/values/convert.h"

#include <string.h>

/* ---- axes ---- */

mw_shape mw__net_shape(const mw__net_reader *r, mw__net_dims dims)
{
    mw_shape shape = {.rank = r->rank};
    for (int i = 0; i < r->rank; i++)
        shape.dim[i] = dims.of[mw__net_axis(i, r->rank, r->rank)];
    return shape;
}

mw__net_dims mw__net_read_dims(const mw__net_reader *r, const mw_tensor *x)
{
    mw__net_dims dims = {{1, 1, 1, 1, 1}};
    const mw_shape shape = mw_tensor_shape(x);
    for (int i = 0; i < shape.rank; i++)
        dims.of[mw__net_axis(i, shape.rank, r->rank)] = shape.dim[i];
    return dims;
}

int mw__net_axis_called(mw__net_reader *r, const mw__net_unit *unit, const char *name)
{
    for (int i = 0; name != NULL && i < r->rank; i++)
        if (strcmp(mw__net_axis_names[mw__net_axis(i, r->rank, r->rank)], name) == 0)
            return i;
    mw__net_bad(r, unit, "there is no dimension \"%.32s\"", name != NULL ? name : "");
    return -1;
}

/* Extents under <prefix>Channels .. ; the batch under `batch`. */
static mw_status read_extents(mw__net_reader *r, plist_t entry, const char *const keys[MW__NET_AXES],
                              const char *subject, mw__net_dims *out)
{
    uint64_t count = 1;
    for (int i = 0; i < MW__NET_AXES; i++) {
        out->of[i] = mw__net_int(entry, keys[i], i == MW__NET_DEPTH || i == MW__NET_BATCH ? 1 : 0);
        if (out->of[i] <= 0 || __builtin_mul_overflow(count, (uint64_t)out->of[i], &count) || count > INT32_MAX)
            return mw__fail(r->err, MW_ERROR_FORMAT, "\"%.96s\": %s is %lld, no extent", subject, keys[i],
                            (long long)out->of[i]);
    }
    return MW_OK;
}

static const char *const input_keys[] = {"BatchSize", "InputChannels", "InputDepth", "InputHeight", "InputWidth"};
static const char *const constant_keys[] = {"ConstantBatchSize", "ConstantChannels", "ConstantDepth", "ConstantHeight",
                                            "ConstantWidth"};

/* Entry `index` of a list of ports, and its name: of a procedure, or in the network itself, under its name. */
static plist_t port_at(const mw__net_reader *r, plist_t procedure, bool output, size_t index, const char **name)
{
    size_t count;
    if (procedure != NULL) {
        plist_t list = mw__net_list(procedure, output ? "OutputList" : "InputList", &count);
        plist_t entry = index < count ? plist_array_get_item(list, (uint32_t)index) : NULL;
        *name = mw__net_string(entry, output ? "OutputName" : "InputName");
        return entry;
    }
    plist_t list = mw__net_list(r->network, output ? "Outputs" : "Inputs", &count);
    *name = index < count ? mw__net_string_at(list, index) : NULL;
    return *name != NULL ? mw__net_dict(r->network, *name) : NULL;
}

static size_t port_count(const mw__net_reader *r, plist_t procedure, bool output)
{
    size_t count;
    if (procedure != NULL)
        mw__net_list(procedure, output ? "OutputList" : "InputList", &count);
    else
        mw__net_list(r->network, output ? "Outputs" : "Inputs", &count);
    return count;
}

/* 5 if anything says a depth. */
static int find_rank(const mw__net_reader *r, plist_t procedure)
{
    size_t count;
    plist_t list = mw__net_list(r->network, "Constants", &count);
    const char *port;
    for (size_t i = 0; i < port_count(r, procedure, false); i++)
        if (mw__net_int(port_at(r, procedure, false, i, &port), "InputDepth", 1) > 1)
            return 5;
    for (size_t i = 0; i < count; i++) {
        const char *name = mw__net_string_at(list, i);
        if (name != NULL && mw__net_int(mw__net_dict(r->network, name), "ConstantDepth", 1) > 1)
            return 5;
    }
    list = mw__net_list(r->network, "Units", &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = mw__net_string_at(list, i);
        plist_t params = name != NULL ? mw__net_dict(mw__net_dict(r->network, name), "Params") : NULL;
        if (mw__net_int(params, "ReshapedDepth", 1) > 1)
            return 5;
    }
    return 4;
}

/* ---- inputs ---- */

static mw_status note_symbol(mw__net_reader *r, const char *name, mw_tensor *value)
{
    if (value == NULL)
        return mw__failed(r->err) ? r->err->status : mw_graph_check(r->graph, r->err);
    return mw__map_set(&r->symbols, name, value, r->err);
}

/* One of its entries: the first makes the input, the others have to say the same. */
static mw_status read_input(mw__net_reader *r, plist_t entry, const char *name)
{
    mw__net_dims dims;
    const char *type = mw__net_string(entry, "InputType");
    if (name == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "an entry of the InputList has no InputName");
    if (type != NULL && strcmp(type, "Float16") != 0)
        return mw__fail(r->err, MW_ERROR_UNSUPPORTED, "input \"%.96s\" is of type %.32s; Float16 is read", name, type);
    if (mw__net_int(entry, "InputInterleave", 1) != 1)
        return mw__fail(r->err, MW_ERROR_UNSUPPORTED, "input \"%.96s\" is interleaved", name);
    MW_TRY(read_extents(r, entry, input_keys, name, &dims));
    const mw_tensor *known = mw__map_get(&r->symbols, name);
    if (known == NULL)
        return note_symbol(r, name, mw_input(r->graph, name, MW_F16, mw__net_shape(r, dims)));
    return mw__net_dims_equal(dims, mw__net_read_dims(r, known))
               ? MW_OK
               : mw__fail(r->err, MW_ERROR_FORMAT, "input \"%.96s\" has two shapes in the InputList", name);
}

/* ---- constants ---- */

mw_status mw__net_claim(mw__net_reader *r, uint64_t bytes)
{
    r->constant_bytes += bytes;
    return r->constant_bytes <= r->constant_limit
               ? MW_OK
               : mw__fail(r->err, MW_ERROR_FORMAT,
                          "constants take %llu bytes, more than four times the weight files (%llu)",
                          (unsigned long long)r->constant_bytes, (unsigned long long)r->constant_limit / 4);
}

/* Apple's compiler names its weight files by absolute paths of the machine where it ran: such a file is looked for
 * beside the netplist. */
static const char *weight_name(plist_t list, size_t index)
{
    const char *name = mw__net_string_at(list, index);
    const char *slash = name != NULL && name[0] == '/' ? strrchr(name, '/') : NULL;
    return slash != NULL ? slash + 1 : name;
}

mw_status mw__net_read_weights(mw__net_reader *r, uint64_t index, uint64_t offset, void *out, size_t size)
{
    size_t count;
    mw__file file;
    plist_t list = mw__net_list(r->network, "Weights", &count);
    const char *name = index < count ? weight_name(list, (size_t)index) : NULL;
    if (name == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "there is no weight file %llu of %zu", (unsigned long long)index,
                        count);
    MW_TRY(mw__file_open_below(&file, r->folder, name, r->err));
    const mw_status status = mw__file_read_at(&file, offset, out, size, name, r->err);
    mw__file_close(&file);
    return status;
}

void *mw__net_read_halves(mw__net_reader *r, const char *type, int64_t index, int64_t offset, size_t count)
{
    const bool wide = type != NULL && strcmp(type, "Float32") == 0;
    const size_t size = wide ? 4 : 2;
    if (mw__net_claim(r, size * count) != MW_OK)
        return NULL;
    char *data = mw__alloc(r->allocator, count, size, r->err);
    if (data == NULL)
        return NULL;
    if (mw__net_read_weights(r, (uint64_t)index, (uint64_t)offset, data, size * count) != MW_OK) {
        mw__free(r->allocator, data);
        return NULL;
    }
    for (size_t i = 0; wide && i < count; i++) { /* in place: what is written lies before what is read */
        const uint16_t half = mw__fp16_from_double(mw__load_element(data, MW_F32, i));
        memcpy(data + 2 * i, &half, sizeof half);
    }
    return data;
}

/* What constants may take: four times the weight files, each counted once. */
static mw_status find_limit(mw__net_reader *r)
{
    size_t count;
    plist_t list = mw__net_list(r->network, "Weights", &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = weight_name(list, i);
        mw_error absent = {0};
        mw__file file;
        if (name == NULL || mw__map_get(&r->weight_files, name) != NULL ||
            mw__file_open_below(&file, r->folder, name, &absent) != MW_OK)
            continue; /* whoever needs it says so */
        r->constant_limit += 4 * file.size;
        mw__file_close(&file);
        MW_TRY(mw__map_set(&r->weight_files, name, r, r->err));
    }
    return MW_OK;
}

static mw_tensor *make_constant(mw__net_reader *r, const char *type, mw__net_dims dims, const void *data, size_t count)
{
    if (strcmp(type, "Float16") == 0)
        return mw_constant(r->graph, MW_F16, mw__net_shape(r, dims), data);
    int32_t *indices = mw__alloc(r->allocator, count, sizeof *indices, r->err);
    if (indices == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        indices[i] = ((const uint16_t *)data)[i];
    mw_tensor *out = mw_constant(r->graph, MW_I32, mw__net_shape(r, dims), indices);
    mw__free(r->allocator, indices);
    return out;
}

static mw_status read_constant(mw__net_reader *r, const char *name)
{
    mw__net_dims dims;
    plist_t entry = mw__net_dict(r->network, name);
    const char *type = mw__net_string(entry, "ConstantType");
    MW_TRY(read_extents(r, entry, constant_keys, name, &dims));
    if (type == NULL || (strcmp(type, "Float16") != 0 && strcmp(type, "UInt16") != 0))
        return mw__fail(r->err, MW_ERROR_UNSUPPORTED,
                        "constant \"%.96s\" is of type %.32s; Float16 and UInt16 are read", name,
                        type != NULL ? type : "none");
    size_t count = 1;
    for (int i = 0; i < MW__NET_AXES; i++)
        count *= (size_t)dims.of[i];
    MW_TRY(mw__net_claim(r, 2 * count));
    void *data = mw__alloc(r->allocator, count, 2, r->err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__net_read_weights(r, (uint64_t)mw__net_int(entry, "ConstantIndex", 0),
                                            (uint64_t)mw__net_int(entry, "ConstantByteOffset", 0), data, 2 * count);
    if (status == MW_OK)
        status = note_symbol(r, name, make_constant(r, type, dims, data, count));
    mw__free(r->allocator, data);
    return status;
}

/* ---- units ---- */

/* Bottom is a list, or one name. */
static mw_status read_bottoms(mw__net_reader *r, mw__net_unit *unit, bool *behind)
{
    size_t count;
    const char *only = mw__net_string(unit->node, "Bottom");
    plist_t list = mw__net_list(unit->node, "Bottom", &count);
    count = only != NULL ? 1 : count;
    unit->more = mw__arena_alloc(&r->arena, count, sizeof *unit->more, r->err);
    if (unit->more == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const char *name = only != NULL ? only : mw__net_string_at(list, i);
        mw_tensor *value = name != NULL ? mw__map_get(&r->symbols, name) : NULL;
        if (value == NULL && r->problems == 0)
            return mw__fail(r->err, MW_ERROR_FORMAT, "unit \"%.96s\" reads \"%.96s\", which nothing before it makes",
                            unit->name, name != NULL ? name : "");
        *behind = *behind || value == NULL;
        unit->more[i] = value;
        if (i < sizeof unit->bottom / sizeof *unit->bottom)
            unit->bottom[i] = value;
    }
    unit->bottom_count = count;
    return MW_OK;
}

/* A unit behind one that cannot be read is passed over. */
static mw_status read_unit(mw__net_reader *r, const char *name)
{
    bool behind = false;
    mw__net_unit unit = {.name = name, .node = name != NULL ? mw__net_dict(r->network, name) : NULL};
    if (unit.node == NULL || (unit.type = mw__net_string(unit.node, "Type")) == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "unit \"%.96s\" is not in its network, or has no Type",
                        name != NULL ? name : "");
    unit.params = mw__net_dict(unit.node, "Params");
    MW_TRY(read_bottoms(r, &unit, &behind));
    if (behind)
        return MW_OK;
    const size_t before = r->problems;
    mw_tensor *out = mw__net_read_unit(r, &unit);
    if (out == NULL && r->problems > before)
        return MW_OK;
    return note_symbol(r, name, out);
}

/* ---- the network ---- */

static mw_status read_output(mw__net_reader *r, plist_t entry, const char *name)
{
    if (name == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "an entry of the OutputList has no OutputName");
    const char *bottom = mw__net_string(mw__net_dict(r->network, name), "Bottom");
    bottom = bottom != NULL ? bottom : mw__net_string(entry, "Name");
    mw_tensor *value = bottom != NULL ? mw__map_get(&r->symbols, bottom) : NULL;
    if (value == NULL && r->problems > 0)
        return MW_OK;
    if (value == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "output \"%.96s\" is \"%.96s\", which nothing makes", name,
                        bottom != NULL ? bottom : "");
    return mw_output(value, name) != NULL ? MW_OK : mw_graph_check(r->graph, r->err);
}

static mw_status find_network(mw__net_reader *r, plist_t procedure)
{
    size_t count;
    plist_t list = mw__net_list(procedure, "OperationList", &count);
    if (count != 1)
        return mw__fail(r->err, count > 1 ? MW_ERROR_UNSUPPORTED : MW_ERROR_FORMAT,
                        "a procedure has %zu operations; one with a single network is read", count);
    const char *name = mw__net_string(plist_array_get_item(list, 0), "NetworkName");
    r->network = name != NULL ? mw__net_dict(r->root, name) : NULL;
    return r->network != NULL
               ? MW_OK
               : mw__fail(r->err, MW_ERROR_FORMAT, "there is no network \"%.96s\"", name != NULL ? name : "");
}

static mw_status read_ports(mw__net_reader *r, plist_t procedure, bool output)
{
    const size_t count = port_count(r, procedure, output);
    const char *name;
    if (count == 0 && output)
        return mw__fail(r->err, MW_ERROR_FORMAT, "a procedure has no OutputList");
    for (size_t i = 0; i < count; i++) {
        plist_t entry = port_at(r, procedure, output, i, &name);
        MW_TRY(output ? read_output(r, entry, name) : read_input(r, entry, name));
    }
    return MW_OK;
}

mw_status mw__net_read_network(mw__net_reader *r, plist_t procedure)
{
    size_t constants, units;
    if (procedure != NULL)
        MW_TRY(find_network(r, procedure));
    if (r->network == NULL)
        return mw__fail(r->err, MW_ERROR_FORMAT, "a network that is listed is not there");
    r->rank = find_rank(r, procedure);
    MW_TRY(find_limit(r));
    MW_TRY(read_ports(r, procedure, false));
    plist_t list = mw__net_list(r->network, "Constants", &constants);
    for (size_t i = 0; i < constants; i++) {
        const char *name = mw__net_string_at(list, i);
        if (name == NULL || mw__map_get(&r->symbols, name) != NULL)
            return mw__fail(r->err, MW_ERROR_FORMAT, "constant %zu has no name, or that of an input", i);
        MW_TRY(read_constant(r, name));
    }
    list = mw__net_list(r->network, "Units", &units);
    for (size_t i = 0; i < units; i++)
        MW_TRY(read_unit(r, mw__net_string_at(list, i)));
    return read_ports(r, procedure, true);
}
