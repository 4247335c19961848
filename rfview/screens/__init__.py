"""The Textual screens and the thread behind them; what they show is painted in render/.

    host      every program's app: look, signals, defects, the failure that ended it
    main      opening     the main screen: layout, keys, mouse; what it begins with
    handlers/             what each action of rfview/actions.py does
    worker                the thread that owns the session
    requests/             what the screen can ask of that thread, one function each
    scenes/               gathers a frame's scene from the session, in that thread
    windows/  compare/    windows over the main screen; the screens of `rfview compare`
"""
