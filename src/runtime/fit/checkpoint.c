/* Checkpoints: the state set and where the training stands, so that it goes on bit for bit. A file is read whole and
 * checked before anything changes. The file format is in safetensors.c. */
#include "base/file/lock.h"
#include "base/number/float_mode.h"
#include "base/number/number.h"
#include "base/text/text.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"
#include "runtime/fit/fit.h"
#include "runtime/trainer/object/trainer_access.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORMAT  "millwright-checkpoint"
#define VERSION "1"
/* Steps that follow can still be counted. */
#define STEP_MAX (INT64_MAX / 2)

/* ---- saving ---- */

enum { NOTES_MAX = 24, PATIENCE_TEXT = MW__NUMBER_MAX + 48 };

typedef struct numbers {
    char step[24], accumulated[24], epoch[24], batch[24], seed[24], best_step[24], line_count[24];
    char learning_rate[MW__NUMBER_MAX], loss_sum[MW__NUMBER_MAX], best[MW__NUMBER_MAX];
    char seconds[MW__NUMBER_MAX], line_sum[MW__NUMBER_MAX], line_rate[MW__NUMBER_MAX];
    char early[PATIENCE_TEXT], plateau[PATIENCE_TEXT];
    mw__text kept;
} numbers;

/* "0x1.8p-2 3 7" */
static const char *print_patience(char out[PATIENCE_TEXT], const mw__fit_patience *patience)
{
    const size_t length = mw__number_print_hex(out, patience->reference);
    snprintf(out + length, PATIENCE_TEXT - length, " %" PRId64 " %" PRId64, patience->waited, patience->seen);
    return out;
}

/* What only lines of metrics go on from. */
static size_t add_lines(mw__safetensors_note *notes, size_t count, const mw__fit_record *record, numbers *text)
{
    mw__number_print_hex(text->seconds, record->seconds);
    mw__number_print_hex(text->line_sum, record->line_sum);
    mw__number_print_hex(text->line_rate, record->line_rate);
    snprintf(text->line_count, sizeof text->line_count, "%" PRId64, record->line_count);
    notes[count++] = (mw__safetensors_note){"mw.fit.seconds", text->seconds};
    notes[count++] = (mw__safetensors_note){"mw.fit.line_sum", text->line_sum};
    notes[count++] = (mw__safetensors_note){"mw.fit.line_rate", text->line_rate};
    notes[count++] = (mw__safetensors_note){"mw.fit.line_count", text->line_count};
    return count;
}

/* What mw_trainer_fit adds; returns the number of notes. */
static size_t add_record(mw__safetensors_note *notes, size_t count, const mw__fit_record *record, numbers *text)
{
    mw__number_print_hex(text->loss_sum, record->loss_sum);
    notes[count++] = (mw__safetensors_note){"mw.fit.loss_sum", text->loss_sum};
    notes[count++] = (mw__safetensors_note){"mw.fit.order", record->order};
    if (record->has_lines)
        count = add_lines(notes, count, record, text);
    if (record->best_by != NULL && record->best_step > 0) {
        mw__number_print_hex(text->best, record->best);
        snprintf(text->best_step, sizeof text->best_step, "%" PRId64, record->best_step);
        notes[count++] = (mw__safetensors_note){"mw.fit.best_by", record->best_by};
        notes[count++] = (mw__safetensors_note){"mw.fit.best", text->best};
        notes[count++] = (mw__safetensors_note){"mw.fit.best_step", text->best_step};
    }
    if (record->best_by != NULL && record->waits) {
        notes[count++] = (mw__safetensors_note){"mw.fit.waits_by", record->best_by};
        notes[count++] = (mw__safetensors_note){"mw.fit.early", print_patience(text->early, &record->early)};
        notes[count++] = (mw__safetensors_note){"mw.fit.plateau", print_patience(text->plateau, &record->plateau)};
    }
    for (size_t i = 0; i < record->kept_count; i++)
        mw__text_printf(&text->kept, "%s%" PRId64, i > 0 ? " " : "", record->kept[i]);
    if (record->kept_count > 0 && mw__text_check(&text->kept, NULL) == MW_OK)
        notes[count++] = (mw__safetensors_note){"mw.fit.kept", text->kept.data};
    return count;
}

static mw_status list_items(const mw_trainer *trainer, mw__safetensors_item *items, size_t *out_bytes, mw_error *err)
{
    for (size_t i = 0; i < trainer->owner.state.count; i++) {
        const mw__state_entry entry = mw__trainer_whole(trainer, i);
        if (entry.data == NULL)
            return mw__fail(err, MW_ERROR_STATE, "\"%s\" was not gathered from the ranks", entry.name);
        MW_TRY(mw__state_check(&entry, entry.data, "nothing was saved", err)); /* over a file that may be good */
        items[i] = (mw__safetensors_item){entry.name, entry.dtype, entry.shape, entry.data};
        *out_bytes += entry.size;
    }
    return MW_OK;
}

static mw_status write_state(mw_trainer *trainer, const char *path, const mw__safetensors_note *notes, size_t count,
                             mw_error *err)
{
    const mw_allocator *allocator = mw__trainer_allocator(trainer);
    const mw__state_set *state = mw__trainer_state(trainer);
    mw__safetensors_item *items = mw__alloc(allocator, state->count, sizeof *items, err);
    if (items == NULL)
        return MW_ERROR_MEMORY;
    size_t bytes = 0;
    mw_status status = list_items(trainer, items, &bytes, err);
    if (status == MW_OK)
        status = mw__safetensors_write(allocator, path, notes, count, items, state->count, err);
    mw__free(allocator, items);
    if (status == MW_OK)
        mw__trainer_count_state(trainer, 0, bytes);
    return status;
}

mw_status mw__checkpoint_save(mw_trainer *trainer, const char *path, mw_loader_position position,
                              const mw__fit_record *record, mw_error *err)
{
    numbers text;
    snprintf(text.step, sizeof text.step, "%" PRId64, mw_trainer_get_info(trainer).steps);
    snprintf(text.accumulated, sizeof text.accumulated, "%d", mw__trainer_accumulated(trainer));
    snprintf(text.epoch, sizeof text.epoch, "%" PRId64, position.epoch);
    snprintf(text.batch, sizeof text.batch, "%" PRId64, position.batch);
    snprintf(text.seed, sizeof text.seed, "%" PRIu64, mw__trainer_seed(trainer));
    mw__number_print_hex(text.learning_rate, (double)mw_trainer_get_info(trainer).learning_rate);
    mw__safetensors_note notes[NOTES_MAX] = {
        {"mw.format", FORMAT},  {"mw.version", VERSION},           {"mw.optimizer", mw__trainer_description(trainer)},
        {"mw.step", text.step}, {"mw.gathered", text.accumulated}, {"mw.learning_rate", text.learning_rate},
        {"mw.seed", text.seed}, {"mw.epoch", text.epoch},          {"mw.batch", text.batch},
    };
    size_t count = 9;
    mw__text_init(&text.kept, mw__trainer_allocator(trainer));
    if (record != NULL)
        count = add_record(notes, count, record, &text);
    mw_status status = mw__text_check(&text.kept, err);
    if (status == MW_OK)
        status = write_state(trainer, path, notes, count, err);
    mw__text_deinit(&text.kept);
    return status;
}

static mw_status save(mw_trainer *trainer, const char *path, const mw_loader_position *position, mw_error *err)
{
    MW_TRY(mw__trainer_check_path(trainer, path, "mw_trainer_save", err));
    const mw_loader_position start = {0};
    if (position != NULL && (position->epoch < 0 || position->batch < 0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_trainer_save: position epoch %" PRId64 " batch %" PRId64 "; neither can be negative",
                        position->epoch, position->batch);
    const mw__lock *mine = mw__trainer_lock(trainer);
    mw__lock lock;
    MW_TRY(mw__lock_take(&lock, mw__trainer_allocator(trainer), path, mine, err));
    const mw_status status = mw__checkpoint_save(trainer, path, position != NULL ? *position : start, NULL, err);
    mw__lock_release(&lock);
    return status;
}

/* Of several ranks the first one has the file. */
static mw_status save_once(mw_trainer *trainer, const char *path, const mw_loader_position *position, mw_error *err)
{
    const mw__trainer_ranks *ranks = mw__trainer_ranks_of(trainer);
    if (ranks == NULL)
        return save(trainer, path, position, err);
    MW_TRY(mw__communicator_check(ranks->communicator, "mw_trainer_save", err));
    MW_TRY(mw__trainer_synchronize(trainer, err));
    MW_TRY(mw__trainer_gather_wholes(trainer, err));
    mw_error own = {0};
    const bool is_first = mw__communicator_rank(ranks->communicator) == 0;
    const mw_status status = is_first ? save(trainer, path, position, &own) : MW_OK;
    mw__trainer_drop_wholes(trainer);
    const mw_status shared = mw__trainer_share_status(trainer, status, &own);
    if (shared != MW_OK && err != NULL)
        *err = own;
    return shared;
}

mw_status mw_trainer_save(mw_trainer *trainer, const char *path, const mw_loader_position *position, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, save_once(trainer, path, position, err), err);
}

/* ---- loading ---- */

typedef struct loading {
    mw_trainer *trainer;
    mw__safetensors file;
    void **data; /* [file.count], temporary copies */
    int64_t step, accumulated;
    float learning_rate;
    mw_loader_position position;
    mw__fit_record record; /* what mw_trainer_fit added */
} loading;

/* The length of the words that both begin with. */
static size_t common_words(const char *a, const char *b)
{
    size_t words = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        words = a[i] == ' ' ? i + 1 : words;
    return words;
}

static mw_status check_identity(const loading *load, mw_error *err)
{
    const mw__safetensors *file = &load->file;
    const char *format = mw__safetensors_metadata(file, "mw.format");
    const char *version = mw__safetensors_metadata(file, "mw.version");
    const char *optimizer = mw__safetensors_metadata(file, "mw.optimizer");
    if (format == NULL || strcmp(format, FORMAT) != 0 || !file->has_checksum)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\" is no checkpoint of a trainer (weights alone are read by mw_trainer_load_weights)",
                        file->path);
    if (version == NULL || strcmp(version, VERSION) != 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is a checkpoint of version \"%.40s\"; this library reads %s",
                        file->path, version != NULL ? version : "", VERSION);
    const char *ours = mw__trainer_description(load->trainer);
    const char *theirs = optimizer != NULL ? optimizer : "none";
    if (strcmp(theirs, ours) == 0)
        return MW_OK;
    const size_t same = common_words(theirs, ours);
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.160s\" was written with another optimizer: it has \"%.120s\" where the trainer has \"%.120s\"",
                    file->path, theirs + same, ours + same);
}

/* Files of version 0.1 have Adam's second moment where fp16 has its root now. */
static bool has_square(const loading *load, const char *root)
{
    const size_t length = strlen(root), suffix = strlen("#root");
    char name[MW_NAME_MAX + 1];
    if (length < suffix || length >= sizeof name || strcmp(root + length - suffix, "#root") != 0)
        return false;
    snprintf(name, sizeof name, "%.*s#v", (int)(length - suffix), root);
    return mw__safetensors_find(&load->file, name) != NULL;
}

static mw_status check_tensor(const loading *load, const mw__state_entry *entry, mw_error *err)
{
    const mw__safetensors_tensor *tensor = mw__safetensors_find(&load->file, entry->name);
    char there[160], here[160];
    mw__shape_print(entry->shape, here, sizeof here);
    if (tensor == NULL && has_square(load, entry->name))
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.160s\" keeps the squares of which the trainer has the root \"%.96s\": it is of an earlier "
                        "version; its weights alone are read by mw_trainer_load_weights",
                        load->file.path, entry->name);
    if (tensor == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.160s\" is of another architecture: it has no \"%.96s\" %s %s",
                        load->file.path, entry->name, mw_dtype_name(entry->dtype), here);
    if (tensor->dtype == entry->dtype && mw_shape_equal(tensor->shape, entry->shape) && tensor->size == entry->size)
        return MW_OK;
    mw__shape_print(tensor->shape, there, sizeof there);
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.160s\" is of another architecture: its \"%.96s\" is %s %.80s, the trainer's %s %.80s",
                    load->file.path, entry->name, mw_dtype_name(tensor->dtype), there, mw_dtype_name(entry->dtype),
                    here);
}

static mw_status check_architecture(const loading *load, mw_error *err)
{
    const mw__state_set *state = mw__trainer_state(load->trainer);
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry entry = mw__trainer_whole(load->trainer, i);
        MW_TRY(check_tensor(load, &entry, err));
    }
    for (size_t i = 0; i < load->file.count; i++) {
        const char *name = load->file.tensors[i].name;
        if (mw__state_find(state, name) == NULL)
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.200s\" is of another architecture: it has \"%.96s\", which the trainer has not",
                            load->file.path, name);
    }
    return MW_OK;
}

static mw_status bad_number(const loading *load, const char *key, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%s\" is missing or no sound number", load->file.path, key);
}

static mw_status read_count(const loading *load, const char *key, int64_t *out, mw_error *err)
{
    const char *text = mw__safetensors_metadata(&load->file, key);
    if (text == NULL || !mw__number_read_i64(text, strlen(text), out) || *out < 0)
        return bad_number(load, key, err);
    return MW_OK;
}

static mw_status read_real(const loading *load, const char *key, mw__number_format format, double *out, mw_error *err)
{
    const char *text = mw__safetensors_metadata(&load->file, key);
    if (text == NULL || !mw__number_read(text, strlen(text), format, out))
        return bad_number(load, key, err);
    return MW_OK;
}

static mw_status read_numbers(loading *load, mw_error *err)
{
    double learning_rate;
    MW_TRY(read_count(load, "mw.step", &load->step, err));
    if (load->step > STEP_MAX)
        return bad_number(load, "mw.step", err);
    if (mw__safetensors_metadata(&load->file, "mw.gathered") != NULL) /* files of version 0.1 have none */
        MW_TRY(read_count(load, "mw.gathered", &load->accumulated, err));
    if (load->accumulated >= mw__trainer_accumulate(load->trainer))
        return bad_number(load, "mw.gathered", err);
    MW_TRY(read_count(load, "mw.epoch", &load->position.epoch, err));
    MW_TRY(read_count(load, "mw.batch", &load->position.batch, err));
    MW_TRY(read_real(load, "mw.learning_rate", MW__NUMBER_F32, &learning_rate, err));
    load->learning_rate = (float)learning_rate;
    return MW_OK;
}

/* The best of another number, or of the other end of it, cannot be compared. */
static mw_status read_best(loading *load, const mw__fit_record *record, mw_error *err)
{
    const char *by = mw__safetensors_metadata(&load->file, "mw.fit.best_by");
    if (by == NULL || record->best_by == NULL || strcmp(by, record->best_by) != 0)
        return MW_OK;
    MW_TRY(read_real(load, "mw.fit.best", MW__NUMBER_F64, &load->record.best, err));
    return read_count(load, "mw.fit.best_step", &load->record.best_step, err);
}

static mw_status read_patience(loading *load, const char *key, mw__fit_patience *out, mw_error *err)
{
    const char *text = mw__safetensors_metadata(&load->file, key);
    const char *waited = text != NULL ? strchr(text, ' ') : NULL;
    const char *seen = waited != NULL ? strchr(waited + 1, ' ') : NULL;
    if (seen == NULL || !mw__number_read(text, (size_t)(waited - text), MW__NUMBER_F64, &out->reference) ||
        !mw__number_read_i64(waited + 1, (size_t)(seen - waited - 1), &out->waited) || out->waited < 0 ||
        !mw__number_read_i64(seen + 1, strlen(seen + 1), &out->seen) || out->seen < out->waited)
        return bad_number(load, key, err);
    return MW_OK;
}

/* Of another number the waiting starts anew. */
static mw_status read_waiting(loading *load, const mw__fit_record *record, mw_error *err)
{
    const char *by = mw__safetensors_metadata(&load->file, "mw.fit.waits_by");
    if (by == NULL || record->best_by == NULL || strcmp(by, record->best_by) != 0)
        return MW_OK;
    MW_TRY(read_patience(load, "mw.fit.early", &load->record.early, err));
    return read_patience(load, "mw.fit.plateau", &load->record.plateau, err);
}

/* "5 10 15": these files will be removed one day, so that nothing but what was written is taken. */
static mw_status read_kept(loading *load, const mw__fit_record *record, mw_error *err)
{
    const char *text = mw__safetensors_metadata(&load->file, "mw.fit.kept");
    int64_t before = -1;
    if (text == NULL || record->kept == NULL)
        return MW_OK;
    for (;;) {
        const size_t length = strcspn(text, " ");
        int64_t step;
        if (load->record.kept_count > MW__KEEP_MAX || !mw__number_read_i64(text, length, &step) || step <= before)
            return bad_number(load, "mw.fit.kept", err);
        record->kept[load->record.kept_count++] = before = step;
        if (text[length] == '\0')
            return MW_OK;
        text += length + 1;
    }
}

/* Runs without metrics have none. */
static mw_status read_lines(loading *load, mw_error *err)
{
    if (mw__safetensors_metadata(&load->file, "mw.fit.seconds") == NULL)
        return MW_OK;
    load->record.has_lines = true;
    MW_TRY(read_real(load, "mw.fit.seconds", MW__NUMBER_F64, &load->record.seconds, err));
    MW_TRY(read_real(load, "mw.fit.line_sum", MW__NUMBER_F64, &load->record.line_sum, err));
    MW_TRY(read_real(load, "mw.fit.line_rate", MW__NUMBER_F32, &load->record.line_rate, err));
    return read_count(load, "mw.fit.line_count", &load->record.line_count, err);
}

/* A checkpoint that mw_trainer_save wrote has a position, but no order that it belongs to. */
static mw_status read_record(loading *load, const mw__fit_record *record, mw_error *err)
{
    const char *order = mw__safetensors_metadata(&load->file, "mw.fit.order");
    if (record == NULL)
        return MW_OK;
    if (load->position.batch > record->batches || load->position.epoch == INT64_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "\"%.200s\" stands in epoch %" PRId64 " after batch %" PRId64 ", but an epoch has %" PRId64
                        " batches: was it written with other data?",
                        load->file.path, load->position.epoch, load->position.batch, record->batches);
    if (order == NULL)
        return MW_OK;
    if (strcmp(order, record->order) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "\"%.160s\" was written by a run with %.120s, this one has %.120s: use the same, or another "
                        "checkpoint file",
                        load->file.path, order, record->order);
    MW_TRY(read_real(load, "mw.fit.loss_sum", MW__NUMBER_F64, &load->record.loss_sum, err));
    MW_TRY(read_lines(load, err));
    MW_TRY(read_best(load, record, err));
    MW_TRY(read_waiting(load, record, err));
    return read_kept(load, record, err);
}

static mw_status read_data(loading *load, mw_error *err)
{
    const mw_allocator *allocator = load->file.allocator;
    load->data = mw__alloc(allocator, load->file.count, sizeof *load->data, err);
    if (load->data == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < load->file.count; i++) {
        load->data[i] = mw__alloc(allocator, load->file.tensors[i].size, 1, err);
        if (load->data[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    return mw__safetensors_read_all(&load->file, load->data, err);
}

/* Of tensor `index` of the file, which has one. */
static size_t find_entry(const loading *load, size_t index)
{
    const mw__state_set *state = mw__trainer_state(load->trainer);
    return (size_t)(mw__state_find(state, load->file.tensors[index].name) - state->entries);
}

/* A checksum proves that the bytes are those that were written, not that they are a state. */
static mw_status check_values(const loading *load, mw_error *err)
{
    for (size_t i = 0; i < load->file.count; i++) {
        const mw__state_entry entry = mw__trainer_whole(load->trainer, find_entry(load, i));
        MW_TRY(mw__state_check(&entry, load->data[i], load->file.path, err));
    }
    return MW_OK;
}

/* The learning rate comes first: it is the only part that can still be refused. */
static mw_status apply(loading *load, mw_error *err)
{
    MW_TRY(mw_trainer_set_learning_rate(load->trainer, load->learning_rate, err));
    const mw__state_set *state = mw__trainer_state(load->trainer);
    size_t bytes = 0;
    for (size_t i = 0; i < load->file.count; i++) {
        const size_t entry = find_entry(load, i);
        if (state->entries[entry].is_part)
            mw__trainer_take_whole(load->trainer, entry, &load->data[i]);
        else
            memcpy(state->entries[entry].data, load->data[i], load->file.tensors[i].size);
        bytes += load->file.tensors[i].size;
    }
    mw__trainer_set_steps(load->trainer, load->step, (int)load->accumulated);
    mw__trainer_count_state(load->trainer, bytes, 0);
    return MW_OK;
}

static mw_status run_loading(loading *load, const mw__fit_record *record, mw_error *err)
{
    MW_TRY(check_identity(load, err));
    MW_TRY(check_architecture(load, err));
    MW_TRY(read_numbers(load, err));
    MW_TRY(read_record(load, record, err));
    MW_TRY(read_data(load, err));
    MW_TRY(check_values(load, err));
    return apply(load, err);
}

mw_status mw__checkpoint_load(mw_trainer *trainer, const char *path, mw_loader_position *out_position,
                              mw__fit_record *record, mw_error *err)
{
    loading load = {.trainer = trainer};
    MW_TRY(mw__safetensors_open(&load.file, mw__trainer_allocator(trainer), path, err));
    const mw_status status = run_loading(&load, record, err);
    for (size_t i = 0; load.data != NULL && i < load.file.count; i++)
        mw__free(load.file.allocator, load.data[i]);
    mw__free(load.file.allocator, load.data);
    mw__safetensors_close(&load.file);
    if (status != MW_OK)
        return status;
    if (out_position != NULL)
        *out_position = load.position;
    if (record != NULL) {
        const mw__fit_record asked = *record;
        *record = load.record;
        record->order = asked.order, record->batches = asked.batches;
        record->best_by = asked.best_by, record->kept = asked.kept;
    }
    return MW_OK;
}

static mw_status load_checkpoint(mw_trainer *trainer, const char *path, mw_loader_position *out_position, mw_error *err)
{
    MW_TRY(mw__trainer_check_path(trainer, path, "mw_trainer_load", err));
    return mw__checkpoint_load(trainer, path, out_position, NULL, err);
}

mw_status mw_trainer_load(mw_trainer *trainer, const char *path, mw_loader_position *out_position, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, __func__, MW__LENT_NEVER, err));
    return mw__trainer_leave(&entry, load_checkpoint(trainer, path, out_position, err), err);
}
