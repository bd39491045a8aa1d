/* The symbol table, and the ports that thread states, bindings and symbols describe together. */
#include "chip/hwx/read.h"

#include <string.h>

/* ---- symbols ---- */

/* Names may share their ends, but not so often that listing them takes long. */
enum { NAMES_TIMES = 4 };

/* Claims a name up to where another one that ends alike was claimed before, so that all names take one pass. */
static mw_status claim_name(mw__hwx_reader *reader, size_t at, size_t size)
{
    size_t fresh = 0;
    while (fresh < size && reader->owner[at + fresh] != MW__HWX_STRING)
        fresh++;
    return mw__hwx_claim(reader, at, fresh, MW__HWX_STRING, "a name of a symbol");
}

static mw_status read_name(mw__hwx_reader *reader, mw__hwx_symbol *symbol, size_t ends)
{
    const mw__hwx_symtab *table = reader->hwx->symtab;
    if (symbol->name_at >= ends)
        return mw__fail(
            reader->err, MW_ERROR_FORMAT,
            ".hwx: a symbol has its name at 0x%x of the string table, which has 0x%x bytes up to its last NUL",
            symbol->name_at, (unsigned)ends);
    symbol->public.name = reader->hwx->strings + symbol->name_at;
    const size_t size = strlen(symbol->public.name) + 1;
    reader->names += size;
    if (reader->names / NAMES_TIMES > table->string_size)
        return mw__fail(reader->err, MW_ERROR_FORMAT, ".hwx: the names of symbols are %d times their string table",
                        NAMES_TIMES);
    return claim_name(reader, (size_t)table->string_at + symbol->name_at, size);
}

mw_status mw__hwx_read_symbols(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    const mw__hwx_symtab *table = hwx->symtab;
    if (table == NULL)
        return MW_OK;
    if (!mw__hwx_inside(reader, table->symbol_at, (uint64_t)table->symbol_count * 16) ||
        !mw__hwx_inside(reader, table->string_at, table->string_size))
        return mw__fail(reader->err, MW_ERROR_FORMAT,
                        ".hwx: the symbol table (%u at 0x%x, names at 0x%x) is beyond 0x%zx", table->symbol_count,
                        table->symbol_at, table->string_at, reader->size);
    hwx->symbols = mw__arena_alloc(&hwx->arena, table->symbol_count, sizeof *hwx->symbols, reader->err);
    hwx->strings = mw__arena_alloc(&hwx->arena, (size_t)table->string_size + 1, 1, reader->err);
    if (hwx->symbols == NULL || hwx->strings == NULL)
        return MW_ERROR_MEMORY;
    size_t ends = table->string_size;
    memcpy(hwx->strings, reader->bytes + table->string_at, ends);
    while (ends > 0 && hwx->strings[ends - 1] != '\0')
        ends--;
    for (size_t i = 0; i < table->symbol_count; i++) {
        MW_TRY(mw__hwx_read_layout(reader, table->symbol_at + i * 16, &mw__hwx_symbol_layout, &hwx->symbols[i],
                                   "a symbol"));
        MW_TRY(read_name(reader, &hwx->symbols[i], ends));
    }
    return MW_OK;
}

/* ---- ports ---- */

static uint64_t find_window(const mw_hwx *hwx, const char *symbol)
{
    for (uint32_t i = 0; i < hwx->command_count; i++) {
        const uint32_t kind = hwx->commands[i].public.kind;
        const mw__hwx_binding *binding = hwx->commands[i].state;
        if ((kind == MW__HWX_CMD_BINDING || kind == MW__HWX_CMD_BINDING_64) && binding->name.text != NULL &&
            strcmp(binding->name.text, symbol) == 0)
            return binding->address;
    }
    return 0;
}

static int find_register(const mw_hwx *hwx, uint64_t address)
{
    const uint64_t *registers = mw__hwx_registers(hwx);
    for (int i = 2; registers != NULL && address != 0 && i < MW__HWX_REGISTERS; i++)
        if (registers[i] == address)
            return i;
    return -1;
}

static void describe_port(const mw_hwx *hwx, const mw__hwx_thread *thread, mw_hwx_port *out)
{
    const mw__hwx_port_state *state = thread->port;
    *out = (mw_hwx_port){.name = thread->tensor.text != NULL ? thread->tensor.text : "",
                         .symbol = thread->symbol.text != NULL ? thread->symbol.text : "",
                         .is_output = state->direction == 2,
                         .type = state->type,
                         .interleave = state->interleave,
                         .size = state->size};
    memcpy(out->extent, state->extent, sizeof out->extent);
    memcpy(out->stride, state->stride, sizeof out->stride);
    out->address = find_window(hwx, out->symbol);
    out->base_register = find_register(hwx, out->address);
}

mw_status mw__hwx_read_ports(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    size_t count = 0;
    hwx->ports = mw__arena_alloc(&hwx->arena, hwx->port_count, sizeof *hwx->ports, reader->err);
    if (hwx->ports == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t i = 0; i < hwx->command_count; i++) {
        const mw__hwx_thread *thread = hwx->commands[i].state;
        if (hwx->commands[i].public.kind == MW__HWX_CMD_THREAD && thread->port != NULL)
            describe_port(hwx, thread, &hwx->ports[count++]);
    }
    return MW_OK;
}
