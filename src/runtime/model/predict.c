/* Predicting: any number of examples in runs of as many as the plan takes. */
#include "base/number/float_mode.h"
#include "runtime/model/model_object.h"

#include <inttypes.h>
#include <string.h>

/* ---- what a call asks for ---- */

static const mw__model_result *find_result(const mw__model_plan *plan, const char *name)
{
    for (size_t i = 0; name != NULL && i < plan->result_count; i++)
        if (strcmp(plan->results[i].name, name) == 0)
            return &plan->results[i];
    return NULL;
}

static mw_status unknown_result(const mw__model_plan *plan, const char *name, const char *call, mw_error *err)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the model has no result \"%.96s\"; it has %zu, the first is \"%s\"",
                    call, name != NULL ? name : "(NULL)", plan->result_count,
                    plan->result_count > 0 ? plan->results[0].name : "");
}

/* Elements that a result has for `examples`. */
static size_t count_of(const mw__model_plan *plan, const mw__model_result *result, int64_t examples)
{
    const size_t run = result->blocks * result->block;
    if (result->kind == MW__BATCH_ROWS)
        return run * (size_t)examples;
    return result->kind == MW__BATCH_NONE ? run : run * (size_t)(examples / plan->examples);
}

static mw_status check_result(const mw_predictor *predictor, const mw_result *wanted, int64_t examples, mw_error *err)
{
    const mw__model_plan *plan = predictor->main->plan;
    const char *call = predictor->call;
    const mw__model_result *result = find_result(plan, wanted->name);
    if (result == NULL)
        return unknown_result(plan, wanted->name, call, err);
    if (!mw__is_host_type(wanted->dtype))
        return mw__fail(err, MW_ERROR_DTYPE, "%s: result \"%s\" cannot be given as %s", call, wanted->name,
                        mw_dtype_name(wanted->dtype));
    if (result->kind == MW__BATCH_MIXED && examples % plan->examples != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: result \"%s\" brings the %" PRId64 " examples of a run together: of %" PRId64
                        " some would be left over",
                        call, wanted->name, plan->examples, examples);
    const size_t count = count_of(plan, result, examples);
    if (wanted->count != count)
        return mw__fail(err, MW_ERROR_SHAPE, "%s: result \"%s\" of %" PRId64 " examples has %zu elements, not %zu",
                        call, wanted->name, examples, count, wanted->count);
    return wanted->data != NULL || count == 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_ARGUMENT, "%s: the memory for result \"%s\" is NULL", call, wanted->name);
}

static mw_status check_call(const mw_predictor *predictor, const mw_batch *batch, const mw_result *results,
                            size_t result_count, mw_error *err)
{
    const mw__model_plan *plan = predictor->main->plan;
    if (batch == NULL || batch->examples < 1 || (batch->feeds == NULL && batch->feed_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s", predictor->call,
                        batch == NULL         ? "the batch is NULL"
                        : batch->examples < 1 ? "the batch has no example"
                                              : "the feeds are NULL");
    if (results == NULL && result_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the results are NULL", predictor->call);
    if (predictor->state_count > 0 && batch->examples % plan->examples != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: each run of the program takes %" PRId64
                        " examples and changes its states, so that %" PRId64 " cannot be filled up",
                        predictor->call, plan->examples, batch->examples);
    for (size_t i = 0; i < result_count; i++)
        MW_TRY(check_result(predictor, &results[i], batch->examples, err));
    return MW_OK;
}

/* ---- results ---- */

mw_status mw__model_copy(void *out, mw_dtype to, const void *data, mw_dtype from, size_t count, const char *name,
                         mw_error *err)
{
    const mw__values values = {.data = data, .dtype = from, .count = count};
    mw__refusal refusal;
    if (mw__values_enter(out, &values, &(mw__port_rule){.dtype = to, .declared = to}, &refusal) == MW_OK)
        return MW_OK;
    return mw__program_port_refused(&refusal, count, name, err);
}

/* The `take` first examples of a run become those from `first` on of `examples`. */
static mw_status take_result(const mw__model_run *run, const mw_result *wanted, int64_t first, int64_t take,
                             int64_t examples, mw_error *err)
{
    const mw__model_plan *plan = run->plan;
    const mw__model_result *r = find_result(plan, wanted->name);
    if (r == NULL) /* a plan of the same program has the same results */
        return mw__fail(err, MW_ERROR_STATE, "the plan of one example has no result \"%s\"", wanted->name);
    const mw_dtype from = plan->program->ports[r->port].dtype;
    const size_t size = (size_t)mw_dtype_bits(from) / 8, out_size = (size_t)mw_dtype_bits(wanted->dtype) / 8;
    const char *data = mw__model_run_data(run, r->port);
    const bool rows = r->kind == MW__BATCH_ROWS;
    const size_t per_run = rows ? (size_t)plan->examples : 1, all = rows ? (size_t)examples : 1;
    const size_t at = rows ? (size_t)first : r->kind == MW__BATCH_NONE ? 0 : (size_t)(first / plan->examples);
    const size_t count = (rows ? (size_t)take : 1) * r->block;
    for (size_t i = 0; i < r->blocks; i++)
        MW_TRY(mw__model_copy((char *)wanted->data + (i * all + at) * r->block * out_size, wanted->dtype,
                              data + i * per_run * r->block * size, from, count, wanted->name, err));
    return MW_OK;
}

/* ---- the runs of a call ---- */

static mw_status predict_some(mw__model_run *run, const mw_batch *batch, int64_t first, int64_t take,
                              const mw_result *results, size_t result_count, mw_error *err)
{
    const mw__feed_range range = {.first = first, .take = take, .room = run->plan->examples};
    MW_TRY(mw__feeder_feed_range(&run->feeder, batch, &range, err));
    MW_TRY(mw__model_run_execute(run, err));
    for (size_t i = 0; i < result_count; i++)
        MW_TRY(take_result(run, &results[i], first, take, batch->examples, err));
    return MW_OK;
}

static mw_status predict(mw_predictor *predictor, const mw_batch *batch, const mw_result *results, size_t result_count,
                         mw_error *err)
{
    MW_TRY(check_call(predictor, batch, results, result_count, err));
    for (int64_t first = 0; first < batch->examples;) {
        const int64_t left = batch->examples - first;
        mw__model_run *run;
        MW_TRY(mw__predictor_choose(predictor, left, &run, err));
        const int64_t take = left < run->plan->examples ? left : run->plan->examples;
        MW_TRY(predict_some(run, batch, first, take, results, result_count, err));
        first += take;
    }
    return MW_OK;
}

mw_status mw_predictor_predict(mw_predictor *predictor, const mw_batch *batch, const mw_result *results,
                               size_t result_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__predictor_enter(&entry, predictor, __func__, err));
    predictor->call = __func__;
    return mw__predictor_leave(&entry, predict(predictor, batch, results, result_count, err), err);
}

/* Nobody else has this predictor, so that it needs no entry. */
mw_status mw_model_predict(mw_model *model, const mw_batch *batch, const mw_result *results, size_t result_count,
                           mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    mw_predictor *predictor = mw__predictor_make(model, __func__, err);
    if (predictor == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    const mw_status status = predict(predictor, batch, results, result_count, err);
    mw_predictor_destroy(predictor);
    return status;
}
