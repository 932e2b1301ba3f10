# Each target does all of its own set-up; config/bootstrap.py says what that is.
PYTHON ?= python3
# Given on the command line or in the environment: PORT and HOST (demo, up), ARGS (test, test-all), NAME (bench).
export PORT HOST ARGS NAME

.PHONY: demo up test test-all check bench seed client
demo up test test-all check bench seed client:
	@$(PYTHON) config/bootstrap.py $@
