/* Reading and writing files of tokens. All that a file says of itself is checked against its size before memory is
 * asked for. */
#include "text/data/token_file.h"

#include "base/number/bytes.h"
#include "base/number/hash.h"
#include "base/text/error.h"

#include <string.h>

enum { END_BYTES = 72, LLMC_BYTES = 1024, PART = 4096 };
static const char magic[8] = {'m', 'w', 't', 'o', 'k', 'e', 'n', 's'};

/* ---- opening ---- */

/* Headers of llm.c: 256 int32, of which the third is the count. */
static const struct {
    uint32_t magic, version;
    int width;
} llmc[] = {{20240520, 1, 2}, {20240801, 7, 4}};

static mw_status take_llmc(mw__corpus_file *f, const unsigned char *head, mw_error *err)
{
    for (size_t i = 0; i < sizeof llmc / sizeof *llmc; i++) {
        if (mw__bytes_u32(head) != llmc[i].magic)
            continue;
        if (mw__bytes_u32(head + 4) != llmc[i].version)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": a token file of llm.c in version %u; %u is known",
                            f->path, (unsigned)mw__bytes_u32(head + 4), (unsigned)llmc[i].version);
        f->width = llmc[i].width;
        f->begin = LLMC_BYTES;
        f->count = mw__bytes_u32(head + 8);
        if (f->file.size - LLMC_BYTES == f->count * (uint64_t)f->width)
            return MW_OK;
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its header says %llu tokens, and it has %llu bytes of them",
                        f->path, (unsigned long long)f->count, (unsigned long long)(f->file.size - LLMC_BYTES));
    }
    return MW_OK;
}

static mw_status damaged(const mw__corpus_file *f, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": a damaged token file: %s", f->path, what);
}

/* Documents begin where they say, each with a token at least. */
static mw_status read_documents(mw__corpus_file *f, uint64_t at, mw_error *err)
{
    unsigned char part[PART];
    f->documents = mw__alloc(mw__allocator_default(), f->document_count, sizeof *f->documents, err);
    if (f->documents == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < f->document_count; i++) {
        const size_t place = i % (PART / 8), left = f->document_count - i;
        if (place == 0)
            MW_TRY(mw__file_read_at(&f->file, at + 8 * i, part, 8 * (left < PART / 8 ? left : PART / 8), f->path, err));
        f->documents[i] = mw__bytes_u64(part + 8 * place);
        if (f->documents[i] >= f->count || (i == 0 ? f->documents[i] != 0 : f->documents[i] <= f->documents[i - 1]))
            return damaged(f, "its documents overlap", err);
    }
    return MW_OK;
}

static mw_status take_own(mw__corpus_file *f, const unsigned char *end, mw_error *err)
{
    const uint64_t documents = mw__bytes_u64(end + 24), flags = mw__bytes_u64(end + 32);
    const uint64_t rest = f->file.size - END_BYTES, width = mw__bytes_u32(end + 12);
    f->count = mw__bytes_u64(end + 16);
    f->key = mw__bytes_u64(end + 40);
    f->text_bytes = mw__bytes_u64(end + 48);
    if (mw__bytes_u64(end + 64) != mw__hash64(end, 64, 0) || mw__bytes_u32(end + 8) != 1)
        return damaged(f, "its end was changed, or is of another version", err);
    if ((width != 2 && width != 4) || flags > 1 || f->count > rest / width || documents > f->count ||
        documents > rest / 8)
        return damaged(f, "it says more than it holds", err);
    const uint64_t bits = flags == 1 ? (f->count + 7) / 8 : 0, tokens = f->count * width;
    if (rest != tokens + 8 * documents + bits)
        return damaged(f, "it says more than it holds, or less", err);
    f->width = (int)width;
    f->is_own = true;
    f->document_count = (size_t)documents;
    MW_TRY(read_documents(f, tokens, err));
    if (bits == 0)
        return MW_OK;
    f->learned = mw__alloc(mw__allocator_default(), (size_t)bits, 1, err);
    return f->learned == NULL
               ? MW_ERROR_MEMORY
               : mw__file_read_at(&f->file, tokens + 8 * documents, f->learned, (size_t)bits, f->path, err);
}

static mw_status take_raw(mw__corpus_file *f, uint64_t words, mw_error *err)
{
    if (words == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "\"%.200s\": raw tokens, of 16 bits or of 32; say how many words there are, or whose tokens "
                        "they are",
                        f->path);
    f->width = mw__corpus_width(words);
    f->count = f->file.size / (uint64_t)f->width;
    if (f->file.size % (uint64_t)f->width == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": %llu bytes are no tokens of %d bytes each", f->path,
                    (unsigned long long)f->file.size, f->width);
}

static mw_status take_kind(mw__corpus_file *f, uint64_t words, mw_error *err)
{
    unsigned char head[12] = {0}, end[END_BYTES] = {0};
    const uint64_t size = f->file.size;
    if (size >= LLMC_BYTES) {
        MW_TRY(mw__file_read_at(&f->file, 0, head, sizeof head, f->path, err));
        MW_TRY(take_llmc(f, head, err));
    }
    if (f->width == 0 && size >= END_BYTES) {
        MW_TRY(mw__file_read_at(&f->file, size - END_BYTES, end, sizeof end, f->path, err));
        if (memcmp(end, magic, sizeof magic) == 0)
            MW_TRY(take_own(f, end, err));
    }
    return f->width != 0 ? MW_OK : take_raw(f, words, err);
}

mw_status mw__corpus_open(mw__corpus_file *file, const char *path, uint64_t words, mw_error *err)
{
    const size_t size = strlen(path) + 1;
    *file = (mw__corpus_file){.file.descriptor = -1};
    file->path = mw__alloc(mw__allocator_default(), size, 1, err);
    if (file->path == NULL)
        return MW_ERROR_MEMORY;
    memcpy(file->path, path, size);
    mw_status status = mw__file_open(&file->file, path, err);
    if (status != MW_OK)
        file->file.descriptor = -1;
    else
        status = take_kind(file, words, err);
    if (status != MW_OK)
        mw__corpus_close(file);
    return status;
}

void mw__corpus_close(mw__corpus_file *file)
{
    const mw_allocator *allocator = mw__allocator_default();
    if (file->path != NULL && file->file.descriptor >= 0)
        mw__file_close(&file->file);
    mw__free(allocator, file->path);
    mw__free(allocator, file->documents);
    mw__free(allocator, file->learned);
    *file = (mw__corpus_file){.file.descriptor = -1};
}

/* ---- reading ---- */

static mw_status take_tokens(const mw__corpus_file *f, const unsigned char *part, size_t count, uint64_t at,
                             int32_t *out, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t id = f->width == 2 ? mw__bytes_u16(part + 2 * i) : mw__bytes_u32(part + 4 * i);
        if (id > INT32_MAX)
            return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": token %llu has the number %u", f->path,
                            (unsigned long long)(at + i), (unsigned)id);
        out[i] = (int32_t)id;
    }
    return MW_OK;
}

mw_status mw__corpus_read(const mw__corpus_file *file, uint64_t at, size_t count, int32_t *out, mw_error *err)
{
    unsigned char part[PART];
    const size_t most = PART / (size_t)file->width;
    for (size_t done = 0; done < count; done += most) {
        const size_t some = count - done < most ? count - done : most;
        const uint64_t place = file->begin + (at + done) * (uint64_t)file->width;
        MW_TRY(mw__file_read_at(&file->file, place, part, some * (size_t)file->width, file->path, err));
        MW_TRY(take_tokens(file, part, some, at + done, out + done, err));
    }
    return MW_OK;
}

/* ---- writing ---- */

mw_status mw__corpus_begin(mw__corpus_writer *writer, const char *path, int width, mw_error *err)
{
    *writer = (mw__corpus_writer){.allocator = mw__allocator_default(), .width = width};
    return mw__file_writer_begin(&writer->file, writer->allocator, path, true, err);
}

static mw_status note_learned(mw__corpus_writer *w, const bool *learned, size_t count, mw_error *err)
{
    const size_t before = w->learned_capacity;
    MW_TRY(mw__grow(w->allocator, &w->learned, &w->learned_capacity, (size_t)((w->count + count + 7) / 8), 1, err));
    if (w->learned_capacity > before)
        memset(w->learned + before, 0, w->learned_capacity - before);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = w->count + i;
        if (learned == NULL || learned[i])
            w->learned[at / 8] |= (unsigned char)(1 << at % 8);
        else
            w->has_learned = true;
    }
    return MW_OK;
}

static void put_number(unsigned char *out, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * i);
}

static mw_status put_numbers(mw__corpus_writer *w, const void *values, size_t size, int width, size_t count,
                             mw_error *err)
{
    unsigned char part[PART];
    const size_t most = PART / (size_t)width;
    for (size_t done = 0; done < count; done += most) {
        const size_t some = count - done < most ? count - done : most;
        for (size_t i = 0; i < some; i++) {
            const char *value = (const char *)values + (done + i) * size;
            put_number(part + i * (size_t)width, width,
                       size == 8 ? *(const uint64_t *)(const void *)value
                                 : (uint64_t) * (const int32_t *)(const void *)value);
        }
        MW_TRY(mw__file_writer_write(&w->file, part, some * (size_t)width, err));
    }
    return MW_OK;
}

mw_status mw__corpus_go_on(mw__corpus_writer *writer, const int32_t *ids, const bool *learned, size_t count,
                           mw_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (writer->width == 2 && ids[i] > UINT16_MAX))
            return mw__fail(err, MW_ERROR_ARGUMENT, "a token file: the number %d does not fit into %d bytes",
                            (int)ids[i], writer->width);
    MW_TRY(note_learned(writer, learned, count, err));
    MW_TRY(put_numbers(writer, ids, sizeof *ids, writer->width, count, err));
    writer->count += count;
    return MW_OK;
}

mw_status mw__corpus_add(mw__corpus_writer *writer, const int32_t *ids, const bool *learned, size_t count,
                         mw_error *err)
{
    if (count == 0)
        return MW_OK;
    MW_TRY(mw__grow(writer->allocator, &writer->documents, &writer->document_capacity, writer->document_count + 1,
                    sizeof *writer->documents, err));
    writer->documents[writer->document_count++] = writer->count;
    return mw__corpus_go_on(writer, ids, learned, count, err);
}

static mw_status put_end(mw__corpus_writer *w, uint64_t key, mw_error *err)
{
    unsigned char end[END_BYTES] = {0};
    const uint64_t numbers[] = {w->count, w->document_count, w->has_learned ? 1 : 0, key, w->text_bytes};
    memcpy(end, magic, sizeof magic);
    put_number(end + 8, 4, 1);
    put_number(end + 12, 4, (uint64_t)w->width);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(end + 16 + 8 * i, 8, numbers[i]);
    put_number(end + 64, 8, mw__hash64(end, 64, 0));
    return mw__file_writer_write(&w->file, end, sizeof end, err);
}

mw_status mw__corpus_commit(mw__corpus_writer *writer, bool raw, uint64_t key, mw_error *err)
{
    if (!raw) {
        MW_TRY(put_numbers(writer, writer->documents, 8, 8, writer->document_count, err));
        if (writer->has_learned)
            MW_TRY(mw__file_writer_write(&writer->file, writer->learned, (size_t)((writer->count + 7) / 8), err));
        MW_TRY(put_end(writer, key, err));
    }
    return mw__file_writer_commit(&writer->file, err);
}

void mw__corpus_deinit(mw__corpus_writer *writer)
{
    mw__file_writer_deinit(&writer->file);
    mw__free(writer->allocator, writer->documents);
    mw__free(writer->allocator, writer->learned);
}
